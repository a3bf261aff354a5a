// SPDX-License-Identifier: GPL-3.0-or-later
// How long contents stay in the pool before they are evicted, how long nobody had wanted them by then, and
// how far apart their uses lie: what tells a pool that is too small from one that keeps what is not used.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::trace {

/// A block from when it was allocated until what stood in it was evicted. Times are nanoseconds.
struct Residency {
  BlockId block = kNullBlock;
  std::int64_t evictedAt = 0;      ///< as in Event::time
  std::int64_t lifetime = 0;       ///< from its allocation to its eviction
  std::int64_t idle = 0;           ///< from its last use to its eviction; never used: its lifetime
  std::vector<std::int64_t> gaps;  ///< between its newest uses, oldest first; at most kMostUses − 1
  bool operator==(const Residency&) const = default;
};

/// Follows the blocks of a trace, event by event. A use is a share of what was stored, by a later request or
/// once more by the same one. What ends otherwise than by eviction (the cache is emptied, a session starts,
/// events were lost) is not counted.
class ResidencySampler {
 public:
  static constexpr std::size_t kMostUses = 4;  ///< remembered of a block

  /// `rate` of the allocated blocks are followed, evenly spread; 0 < rate ≤ 1, else Failure.
  explicit ResidencySampler(double rate = 1);

  void take(const Event& event);

  const std::vector<Residency>& evicted() const { return m_evicted; }  ///< in the order of their eviction
  std::size_t followed() const { return m_followed.size(); }           ///< blocks that may still be evicted

 private:
  struct Followed {
    std::int64_t allocatedAt = 0;
    bool stored = false;
    std::vector<std::int64_t> uses;  ///< the newest ones, oldest first
  };

  double m_rate;
  double m_due = 0;  ///< allocations to be followed; one is at 1
  std::map<BlockId, Followed> m_followed;
  std::vector<Residency> m_evicted;
};

/// What residencies are like on the whole. Seconds; medians.
struct ResidencyFigures {
  std::uint64_t evicted = 0;       ///< contents
  std::uint64_t gaps = 0;          ///< between uses
  std::optional<double> lifetime;  ///< none: nothing was evicted
  std::optional<double> idle;      ///< none: nothing was evicted
  std::optional<double> gap;       ///< none: nothing that was evicted had been used twice
  bool operator==(const ResidencyFigures&) const = default;
};
ResidencyFigures figuresOf(const std::vector<Residency>& evicted);

}  // namespace spanscope::trace
