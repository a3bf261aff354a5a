// SPDX-License-Identifier: GPL-3.0-or-later
// Meters follow all events of a session and measure one number for each request.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::metrics {

struct Metric;

/// Gives one number for each request. It never changes after it is given.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;
  /// Events come in order. They may contradict each other, as those of a damaged file do.
  virtual void take(const trace::Event& event) = 0;

  /// Nothing: the events do not say it.
  std::optional<double> of(RequestId request) const;

 protected:
  void give(RequestId request, double value) { m_values.try_emplace(request, value); }

 private:
  std::map<RequestId, double> m_values;
};
using MakeMeter = std::unique_ptr<Meter> (*)();

/// The values of meters for a request or a run, by the id of the metric.
using Metered = std::map<std::string_view, double>;
/// Adds what another request of the same run has, later than the others.
void addTo(Metered& metered, const Metered& later);

/// One meter for each metric of the table that has one. They can be moved, not copied.
class Meters {
 public:
  Meters();
  void take(const trace::Event& event);
  Metered of(RequestId request) const;
  /// Of all these requests: their sum, or what the last of them has (Over).
  Metered of(std::span<const RequestId> requests) const;

 private:
  std::vector<std::pair<const Metric*, std::unique_ptr<Meter>>> m_meters;
};

/// Sums over requests, in tokens of their prompts.
struct LookupSums {
  std::int64_t requests = 0;
  std::int64_t asked = 0;  ///< tokens that were looked for
  std::int64_t found = 0;  ///< tokens that were cached, relocated ones included

  /// found / asked, 0 … 1; 0 where nothing was asked for.
  double rate() const { return asked > 0 ? static_cast<double>(found) / static_cast<double>(asked) : 0; }
  bool operator==(const LookupSums&) const = default;
};

/// Sums over the newest requests. If there are more requests than the window allows, the oldest addition is
/// removed as a whole. The newest addition is never removed.
class HitRateWindow {
 public:
  static constexpr std::int64_t kMostRequests = 1000;
  explicit HitRateWindow(std::int64_t mostRequests = kMostRequests) : m_mostRequests(mostRequests) {}

  /// Does nothing if there are no requests, or if a count is below 0.
  void add(const LookupSums& more);
  void reset();

  const LookupSums& sums() const { return m_sums; }
  double rate() const { return m_sums.rate(); }

 private:
  std::int64_t m_mostRequests;
  std::deque<LookupSums> m_added;  ///< oldest first
  LookupSums m_sums;
};

/// Computes the hit rates of a trace, event by event. A request counts once, at its first admission. A
/// preempted request counts again in `resumed`, because its hits are mostly its own blocks. Requests do not
/// count if caching is off. The replay of a finished request does not count, because it belongs to no run.
class HitRates {
 public:
  explicit HitRates(std::int64_t mostRequests = HitRateWindow::kMostRequests) : m_recent(mostRequests) {}

  void take(const trace::Event& event);

  const HitRateWindow& recent() const { return m_recent; }  ///< since the cache was emptied last
  const LookupSums& admitted() const { return m_admitted; }
  const LookupSums& resumed() const { return m_resumed; }

 private:
  HitRateWindow m_recent;
  LookupSums m_admitted;
  LookupSums m_resumed;
  std::map<RequestId, bool>
      m_lookedUp;  ///< of requests about to be admitted: whether anything could be found
};

/// The hit rate of the newest requests (HitRates) after the request was admitted, 0 … 1.
std::unique_ptr<Meter> recentHitRate();
/// Counts the tokens of a prompt that a stock prefix cache would reuse. The meter keeps a cache of its own.
/// This cache has the session's block size and as many blocks as the pool. It keeps full blocks alone. A
/// prompt is one sequence: its visible tokens in prompt order. A block is a hit if all blocks before it are
/// hits. The last token of a prompt is always computed. Prompts are stored at the first token of the answer,
/// answers at the end of their step. The least recently used block is evicted first. The meter has no value
/// if events are missing. The session must also begin with an empty pool.
std::unique_ptr<Meter> prefixEquivalent();

}  // namespace spanscope::metrics
