// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/pool_metrics.h"

#include "engine/base/error.h"
#include "engine/base/median.h"

#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace spanscope::metrics {
namespace {

constexpr double kSecond = 1e-9;  // seconds per nanosecond

double seconds(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * kSecond;
}

/// Times in a file can be any number, so differences must not overflow.
std::int64_t between(std::int64_t earlier, std::int64_t later) {
  std::int64_t passed = 0;
  return __builtin_sub_overflow(later, earlier, &passed) ? std::numeric_limits<std::int64_t>::max() : passed;
}

}  // namespace

ResidencySampler::ResidencySampler(double rate) : m_rate(rate) {
  if (rate > 0 && rate <= 1) return;
  throw Failure({.file = {},
                 .place = "share of sampled blocks",
                 .found = std::to_string(rate),
                 .expected = "a number above 0 and at most 1"});
}

void ResidencySampler::take(const trace::Event& event) {
  if (const auto* allocated = std::get_if<trace::BlockAllocated>(&event.payload)) {
    m_followed.erase(allocated->block);
    m_due += m_rate;
    if (m_due < 1) return;
    m_due -= 1;
    m_followed[allocated->block].allocatedAt = event.time;
  } else if (const auto* stored = std::get_if<trace::BlockStored>(&event.payload)) {
    const auto found = m_followed.find(stored->block);
    if (found != m_followed.end()) found->second.stored = true;
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
    const auto found = m_followed.find(shared->block);
    // A block that is shared before it is stored is computed for both requests. Such sharing is not a use.
    if (found == m_followed.end() || !found->second.stored) return;
    std::vector<std::int64_t>& uses = found->second.uses;
    if (uses.size() == kMostUses) uses.erase(uses.begin());
    uses.push_back(event.time);
  } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload)) {
    // A partial block that grew is still in the pool.
    if (removed->reason == trace::RemovalReason::Grown) return;
    const auto found = m_followed.find(removed->block);
    if (found == m_followed.end()) return;
    const Followed followed = std::move(found->second);
    m_followed.erase(found);
    if (removed->reason != trace::RemovalReason::Evicted) return;
    Residency residency{.block = removed->block,
                        .lifetime = between(followed.allocatedAt, event.time),
                        .idle = 0,
                        .gaps = {}};
    residency.idle = followed.uses.empty() ? residency.lifetime : between(followed.uses.back(), event.time);
    for (std::size_t use = 1; use < followed.uses.size(); ++use)
      residency.gaps.push_back(between(followed.uses[use - 1], followed.uses[use]));
    m_evicted.push_back(std::move(residency));
  } else if (std::holds_alternative<trace::CacheCleared>(event.payload) ||
             std::holds_alternative<trace::SessionStarted>(event.payload) ||
             std::holds_alternative<trace::Snapshot>(event.payload)) {
    m_followed.clear();
  }
}

ResidencyMetrics metricsOf(const std::vector<Residency>& evicted) {
  std::vector<double> lifetimes;
  std::vector<double> idles;
  std::vector<double> gaps;
  for (const Residency& residency : evicted) {
    lifetimes.push_back(seconds(residency.lifetime));
    idles.push_back(seconds(residency.idle));
    for (const std::int64_t gap : residency.gaps) gaps.push_back(seconds(gap));
  }
  ResidencyMetrics metrics{
      .evicted = evicted.size(), .gaps = gaps.size(), .lifetime = {}, .idle = {}, .gap = {}};
  metrics.lifetime = medianOf(std::move(lifetimes));
  metrics.idle = medianOf(std::move(idles));
  metrics.gap = medianOf(std::move(gaps));
  return metrics;
}

void PoolCounts::count(std::int32_t references, bool isCached, std::int32_t by) {
  (references > 1 ? shared : references == 1 ? unshared : isCached ? cached : free) += by;
}

PoolCounts countsOf(const trace::PoolReplay& pool) {
  PoolCounts counts;
  BlockId id = 0;
  for (const trace::BlockState& block : pool.blocks()) {
    if (id++ != kNullBlock) counts.count(block.references, block.cached);
  }
  return counts;
}

}  // namespace spanscope::metrics
