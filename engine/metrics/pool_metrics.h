// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how long blocks stay in the pool until eviction, and when they are used. These times show whether
// a pool is too small. Open this file to change a metric of the pool.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_replay.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::metrics {

/// The life of one block, from its allocation to its eviction. Times are nanoseconds.
struct Residency {
  BlockId block = kNullBlock;
  std::int64_t lifetime = 0;  ///< from its allocation to its eviction
  /// From the last use of the block to its eviction. For an unused block, the lifetime of the block.
  std::int64_t idle = 0;
  std::vector<std::int64_t> gaps;  ///< times between its newest uses, the oldest first; at most kMostUses − 1
  bool operator==(const Residency&) const = default;
};

/// Follows the blocks of a trace, event by event. A use of a block is a request that references its stored
/// content. Blocks that are not evicted do not count, e.g. cleared blocks.
class ResidencySampler {
 public:
  static constexpr std::size_t kMostUses = 4;  ///< number of remembered uses of a block

  /// Follows the share `rate` of the allocated blocks, evenly spread. Throws Failure unless 0 < rate ≤ 1.
  explicit ResidencySampler(double rate = 1);

  void take(const trace::Event& event);

  const std::vector<Residency>& evicted() const { return m_evicted; }  ///< in the order of their eviction
  std::size_t followed() const { return m_followed.size(); }           ///< blocks that may still be evicted

 private:
  struct Followed {
    std::int64_t allocatedAt = 0;
    bool stored = false;
    std::vector<std::int64_t> uses;  ///< the newest uses, the oldest first
  };

  double m_rate;
  double m_due = 0;  ///< grows by m_rate per allocation; at 1, the allocated block is followed
  std::map<BlockId, Followed> m_followed;
  std::vector<Residency> m_evicted;
};

/// The medians over all residencies, in seconds.
struct ResidencyMetrics {
  std::uint64_t evicted = 0;       ///< evicted contents
  std::uint64_t gaps = 0;          ///< times between uses
  std::optional<double> lifetime;  ///< absent: nothing was evicted
  std::optional<double> idle;      ///< absent: nothing was evicted
  std::optional<double> gap;       ///< absent: no evicted block was used twice
  bool operator==(const ResidencyMetrics&) const = default;
};
ResidencyMetrics metricsOf(const std::vector<Residency>& evicted);

/// Numbers of blocks by their state.
struct PoolCounts {
  std::int32_t shared = 0;    ///< two or more requests reference the block
  std::int32_t unshared = 0;  ///< exactly one request references the block
  std::int32_t cached = 0;    ///< no request references the block, and a lookup can find it
  std::int32_t free = 0;      ///< the block has no content
  std::int32_t inUse() const { return shared + unshared; }
  std::int32_t filled() const { return inUse() + cached; }
  /// Adds `by` to the count for a block in this state.
  void count(std::int32_t references, bool isCached, std::int32_t by = 1);
  bool operator==(const PoolCounts&) const = default;
};
/// Returns the counts without the null block.
PoolCounts countsOf(const trace::PoolReplay& pool);

/// The input values for metrics of a pool. Absent: not reported.
struct PoolFacts {
  std::optional<PoolCounts> blocks{};   ///< at one moment
  std::optional<std::int64_t> peak{};   ///< the largest number of blocks in use
  std::optional<std::int64_t> bytes{};  ///< bytes of the blocks that have keys and values
  ResidencyMetrics residency{};         ///< of all evicted blocks
};

}  // namespace spanscope::metrics
