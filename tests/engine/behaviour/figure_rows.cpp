// SPDX-License-Identifier: GPL-3.0-or-later
// Rows about what is counted: the window of hit rates, and how long blocks stay.
#include "engine/base/error.h"
#include "engine/metrics/meters.h"
#include "engine/metrics/pool_metrics.h"
#include "tests/engine/behaviour/table_row.h"

namespace spanscope::behaviour {

using namespace spanscope::cache;
using namespace spanscope::cache::test;
using metrics::LookupSums;

namespace {

void hitRateWindow() {
  metrics::HitRateWindow window(5);
  same(window.rate(), 0.0, "at first");
  window.add({.requests = 1, .asked = 20, .found = 9});
  same(window.rate(), 0.45, "one request");
  window.add({.requests = 4, .asked = 80, .found = 16});
  same(window.rate(), 0.25, "five requests");
  window.add({.requests = 0, .asked = 0, .found = 0});
  same(window.rate(), 0.25, "nothing changes nothing");
  window.add({.requests = 1, .asked = 10, .found = 2});
  same(window.rate(), 0.2, "the oldest one has left");
  same(window.sums(), LookupSums{.requests = 5, .asked = 90, .found = 18}, "what is counted");
  window.reset();
  same(window.rate(), 0.0, "reset");
}

void largeUpdatesOfTheWindow() {
  metrics::HitRateWindow window(5);
  window.add({.requests = 6, .asked = 20, .found = 10});
  same(window.rate(), 0.5, "more than the window holds, but the newest");
  window.add({.requests = 6, .asked = 40, .found = 30});
  same(window.rate(), 0.75, "in place of the one before");
}

/// Sends events of one block at given seconds.
class Clock {
 public:
  explicit Clock(double rate = 1) : sampler(rate) {}
  void at(std::int64_t seconds, trace::Payload payload) {
    sampler.take({.sequence = ++m_sequence,
                  .time = seconds * 1'000'000'000,
                  .session = 0,
                  .run = 1,
                  .request = 1,
                  .node = {},
                  .payload = std::move(payload)});
  }
  void store(std::int64_t seconds, BlockId block) {
    at(seconds, trace::BlockAllocated{.block = block});
    trace::BlockStored stored;
    stored.block = block;
    at(seconds, stored);
  }
  void use(std::int64_t seconds, BlockId block) { at(seconds, trace::BlockShared{.block = block}); }
  void remove(std::int64_t seconds, BlockId block, trace::RemovalReason reason) {
    at(seconds, trace::BlockRemoved{.block = block, .key = {}, .reason = reason});
  }
  void evict(std::int64_t seconds, BlockId block) { remove(seconds, block, trace::RemovalReason::Evicted); }

  metrics::ResidencySampler sampler;

 private:
  std::uint64_t m_sequence = 0;
};

std::vector<std::int64_t> seconds(std::vector<std::int64_t> nanoseconds) {
  for (std::int64_t& value : nanoseconds) value /= 1'000'000'000;
  return nanoseconds;
}

void residency() {
  Clock clock;
  clock.store(1, 7);
  clock.use(2, 7);
  clock.use(3, 7);
  same(clock.sampler.followed(), std::size_t{1}, "it is followed");
  clock.evict(4, 7);
  same(clock.sampler.followed(), std::size_t{0}, "it is forgotten once it is evicted");
  const metrics::Residency& one = clock.sampler.evicted().at(0);
  same(seconds({one.lifetime, one.idle}), {3, 1}, "lifetime and idle time");
  same(seconds(one.gaps), {1}, "gaps");
  const metrics::ResidencyMetrics metrics = metrics::metricsOf(clock.sampler.evicted());
  same(*metrics.lifetime, 3.0, "median lifetime in seconds");
  same(*metrics.idle, 1.0, "median idle time in seconds");
  same(*metrics.gap, 1.0, "median gap in seconds");
}

void neverUsed() {
  Clock clock;
  clock.store(1, 7);
  clock.evict(6, 7);
  const metrics::Residency& one = clock.sampler.evicted().at(0);
  same(seconds({one.lifetime, one.idle}), {5, 5}, "idle from the beginning");
  same(one.gaps.size(), std::size_t{0}, "gaps");
}

void fourUsesAreRemembered() {
  Clock clock;
  clock.store(0, 7);
  for (const std::int64_t second : {1, 2, 4, 8, 16}) clock.use(second, 7);
  clock.evict(20, 7);
  same(seconds(clock.sampler.evicted().at(0).gaps), {2, 4, 8}, "gaps of the newest four");
}

void endsThatAreNoEvictions() {
  Clock clock;
  clock.store(0, 7);
  clock.remove(1, 7, trace::RemovalReason::Grown);
  same(clock.sampler.followed(), std::size_t{1}, "what has grown is there");
  clock.store(2, 8);
  clock.at(3, trace::CacheCleared{});
  same(clock.sampler.followed(), std::size_t{0}, "what was emptied is not");
  clock.store(4, 9);
  clock.at(5, trace::Snapshot{});
  same(clock.sampler.followed(), std::size_t{0}, "nor what is not known");
  same(clock.sampler.evicted().size(), std::size_t{0}, "nothing of it was evicted");
  // What is shared before it was stored is computed for both.
  clock.at(6, trace::BlockAllocated{.block = 5});
  clock.use(6, 5);
  trace::BlockStored stored;
  stored.block = 5;
  clock.at(7, stored);
  clock.evict(9, 5);
  same(seconds({clock.sampler.evicted().at(0).idle}), {3}, "it was never used");
}

void sampleRates() {
  for (const double rate : {0.0, -1.0, 1.5}) {
    try {
      const metrics::ResidencySampler sampler(rate);
      throw std::runtime_error("a rate outside of (0, 1] was taken");
    } catch (const Failure&) {
    }
  }
  Clock clock(0.25);
  for (BlockId block = 1; block <= 100; ++block) clock.store(block, block);
  same(clock.sampler.followed(), std::size_t{25}, "a quarter of them");
}

/// What the cache sends is what is counted.
void hitsOfTheCache() {
  CacheDriver driver(withTails(40));
  metrics::HitRates rates;
  metrics::ResidencySampler residencies;
  driver.run(prompt(1, range(1, 48)));
  driver.run(prompt(2, range(1, 40)));
  driver.run(prompt(3, range(500, 600)));
  for (const trace::Event& event : driver.sink.events()) {
    rates.take(event);
    residencies.take(event);
  }
  same(rates.recent().sums(), LookupSums{.requests = 3, .asked = 688, .found = 39}, "all of them");
  same(rates.admitted(), rates.recent().sums(), "in all");
  same(rates.resumed(), LookupSums{}, "resumed");
  same(residencies.evicted().size(), std::size_t{3}, "contents that the third one evicted");
}

void cachingOff() {
  CacheDriver driver(switchedOff(11, 4));
  metrics::HitRates rates;
  for (RequestId id = 1; id <= 3; ++id) driver.run(prompt(id, range(1, 9)));
  for (const trace::Event& event : driver.sink.events()) rates.take(event);
  same(rates.admitted(), LookupSums{}, "nothing is asked for, so nothing is missed");
  same(rates.recent().sums(), LookupSums{}, "nor lately");
}

}  // namespace

TableRows figureRows() {
  return {{"B12 hit-rate window", hitRateWindow},
          {"B12 updates larger than the window", largeUpdatesOfTheWindow},
          {"B12 what is counted of a cache", hitsOfTheCache},
          {"C1 residency", residency},
          {"C1 never used", neverUsed},
          {"C1 four uses are remembered", fourUsesAreRemembered},
          {"C1 what is no eviction", endsThatAreNoEvictions},
          {"C1 sample rates", sampleRates},
          {"C5 caching off", cachingOff}};
}

}  // namespace spanscope::behaviour
