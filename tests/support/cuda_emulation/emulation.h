// SPDX-License-Identifier: GPL-3.0-or-later
// A card that is the host: kernels/cuda/device.h and runtime.h for tests.
//
// It is stricter than a card. Memory that nobody wrote holds NaN; nobody writes beside an array; a copy
// arrives when it is waited for and no sooner; all threads of a block meet at the same barriers and all lanes
// of a warp at the same operations; a launch takes all the shared memory it asked for; work given to a stream
// runs when it is waited for and no sooner.
#pragma once

#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda::emulation {

/// In which order the threads of a block run between two barriers, and blocks one after the other. A card
/// promises none: a kernel is right if its results are the same in each.
enum class ThreadOrder { Ascending, Descending, Shuffled };
inline constexpr ThreadOrder kThreadOrders[] = {ThreadOrder::Ascending, ThreadOrder::Descending,
                                                ThreadOrder::Shuffled};

struct EmulationOptions {
  ThreadOrder order = ThreadOrder::Ascending;
  std::uint64_t seed = 1;  ///< of a shuffled order
  std::size_t memoryBytes = std::size_t{4} << 30U;
};

/// Options are read at each launch.
EmulationOptions& optionsOf(const Device& device);
/// How many launches the card has run.
std::size_t launchesOf(const Device& device);

/// The card that is there unless others are plugged in.
DeviceProperties usualCard();

/// Has other cards be there for as long as it lives; one at a time. Those that are open stay what they are.
class PluggedCards {
 public:
  explicit PluggedCards(std::vector<DeviceProperties> cards, ThreadOrder order = ThreadOrder::Ascending);
  ~PluggedCards();
  PluggedCards(const PluggedCards&) = delete;
  PluggedCards& operator=(const PluggedCards&) = delete;
};

/// What was done on all cards since the program began.
struct MachineCounts {
  std::size_t contexts = 0;  ///< cards that were taken into use, each time they were opened
  std::size_t events = 0;    ///< that were made
  std::size_t waits = 0;     ///< for streams that had work left
  /// Copies to the host that had a word which nobody wrote, or one that looks like it: all of its bits are
  /// set.
  std::size_t unwritten = 0;
};
MachineCounts machineCounts();

}  // namespace spanscope::cuda::emulation
