// SPDX-License-Identifier: GPL-3.0-or-later
// Emulates a card on the host: kernels/cuda/device.h and runtime.h for tests.
//
// The emulation is stricter than a card. Unwritten memory holds NaN. It is an error to write outside an
// array. A copy arrives only when it is waited for. All threads of a block must meet at the same barriers,
// and all lanes of a warp at the same operations. A launch must take all the shared memory that it asked for.
// Work given to a stream runs only when it is waited for.
#pragma once

#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cuda::emulation {

/// The order in which the threads of a block run between two barriers, and in which blocks run. A card
/// promises no order: a kernel is correct only if its results are the same in each.
enum class ThreadOrder { Ascending, Descending, Shuffled };
inline constexpr ThreadOrder kThreadOrders[] = {ThreadOrder::Ascending, ThreadOrder::Descending,
                                                ThreadOrder::Shuffled};

struct EmulationOptions {
  ThreadOrder order = ThreadOrder::Ascending;
  std::uint64_t seed = 1;  ///< seed of a shuffled order
  std::size_t memoryBytes = std::size_t{4} << 30U;
};

/// The options of the emulation. Each launch reads them.
EmulationOptions& optionsOf(const Device& device);
/// The number of launches that the card has run.
std::size_t launchesOf(const Device& device);

/// The properties of the card that is present unless others are plugged in.
DeviceProperties usualDevice();

/// While an object of this class exists, other cards are present. Only one such object may exist at a time.
/// Cards that are open stay as they are.
class PluggedDevices {
 public:
  explicit PluggedDevices(std::vector<DeviceProperties> cards, ThreadOrder order = ThreadOrder::Ascending);
  ~PluggedDevices();
  PluggedDevices(const PluggedDevices&) = delete;
  PluggedDevices& operator=(const PluggedDevices&) = delete;
};

/// Counts of what all cards have done since the program began.
struct MachineCounts {
  std::size_t contexts = 0;  ///< contexts made, one for each time that a card was opened
  std::size_t events = 0;    ///< events made
  std::size_t waits = 0;     ///< waits for streams that had work left
  /// Copies to the host with an unwritten word, or one that looks so: all of its bits are set.
  std::size_t unwritten = 0;
};
MachineCounts machineCounts();

}  // namespace spanscope::cuda::emulation
