// SPDX-License-Identifier: GPL-3.0-or-later
// Defines meters. A meter takes all events of a session, and measures one number for each request. Open this
// file to add a meter.
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

/// Measures one number for each request. A number never changes after it is set.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;
  /// Takes the next event. Events of a damaged file may contradict each other.
  virtual void take(const trace::Event& event) = 0;

  /// Returns the number of a request, or nothing if the events do not contain it.
  std::optional<double> of(RequestId request) const;

 protected:
  void give(RequestId request, double value) { m_values.try_emplace(request, value); }

 private:
  std::map<RequestId, double> m_values;
};
using MakeMeter = std::unique_ptr<Meter> (*)();

/// The values of meters for a request or a run, by the id of the metric.
using Metered = std::map<std::string_view, double>;
/// Adds the values of a later request of the same run.
void addTo(Metered& metered, const Metered& later);

/// All meters of the table of metrics. The object can be moved, but not copied.
class Meters {
 public:
  Meters();
  void take(const trace::Event& event);
  Metered of(RequestId request) const;
  /// Returns the values of these requests: by metric, the sum or the value of the last request (Over).
  Metered of(std::span<const RequestId> requests) const;

 private:
  std::vector<std::pair<const Metric*, std::unique_ptr<Meter>>> m_meters;
};

/// Sums over the prompts of requests.
struct LookupSums {
  std::int64_t requests = 0;
  std::int64_t asked = 0;  ///< tokens that were looked up
  std::int64_t found = 0;  ///< tokens that were hits, including relocated hits

  /// Returns found / asked, 0 … 1. Returns 0 if no token was looked up.
  double rate() const { return asked > 0 ? static_cast<double>(found) / static_cast<double>(asked) : 0; }
  bool operator==(const LookupSums&) const = default;
};

/// Sums over the newest requests. If the sums exceed the window, the oldest addition is removed as a whole.
/// The newest addition is never removed.
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

  const HitRateWindow& recent() const { return m_recent; }  ///< since the cache was last emptied
  const LookupSums& admitted() const { return m_admitted; }
  const LookupSums& resumed() const { return m_resumed; }

 private:
  HitRateWindow m_recent;
  LookupSums m_admitted;
  LookupSums m_resumed;
  std::map<RequestId, bool> m_lookedUp;  ///< for requests before admission: whether lookups can find a
                                         ///< content
};

/// Makes a meter for the hit rate of the newest requests (HitRates) after the request's admission, 0 … 1.
std::unique_ptr<Meter> recentHitRate();
/// Makes a meter for the tokens of a prompt that a stock prefix cache would reuse. The meter has its own
/// cache with these rules:
/// - The cache has the session's block size and as many blocks as the pool. The cache keeps only full blocks.
/// - A prompt is one sequence: its visible tokens in prompt order. A block is a hit if all blocks before it
///   are hits.
/// - The last token of a prompt is always computed.
/// - Prompts are stored at the first token of the answer, answers at the end of their step.
/// - The least recently used block is evicted first.
///
/// The meter has no value if events are missing. The meter also has no value if the session began with a pool
/// that was not empty.
std::unique_ptr<Meter> prefixEquivalent();

}  // namespace spanscope::metrics
