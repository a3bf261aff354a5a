// SPDX-License-Identifier: GPL-3.0-or-later
// How much of what is asked for lately is found: a rate over everything that ever ran would hide that a
// workload has changed.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <deque>
#include <map>

namespace spanscope::trace {

/// Sums over requests, in tokens of their prompts.
struct LookupSums {
  std::int64_t requests = 0;
  std::int64_t asked = 0;  ///< tokens that were looked for
  std::int64_t found = 0;  ///< tokens that were cached, relocated ones included

  /// found / asked, 0 … 1; 0 where nothing was asked for.
  double rate() const { return asked > 0 ? static_cast<double>(found) / static_cast<double>(asked) : 0; }
  bool operator==(const LookupSums&) const = default;
};

/// Sums over the newest requests. What was added together leaves together, oldest first, as long as more than
/// the window's number of requests are counted; the newest addition always stays, however large it is.
class HitRateWindow {
 public:
  static constexpr std::int64_t kMostRequests = 1000;
  explicit HitRateWindow(std::int64_t mostRequests = kMostRequests) : m_mostRequests(mostRequests) {}

  /// Without requests, or with counts below 0, it changes nothing.
  void add(const LookupSums& more);
  void reset();

  const LookupSums& sums() const { return m_sums; }
  double rate() const { return m_sums.rate(); }

 private:
  std::int64_t m_mostRequests;
  std::deque<LookupSums> m_added;  ///< oldest first
  LookupSums m_sums;
};

/// Hit rates of a trace, event by event. A request counts once, when it is admitted first: how often it had
/// to wait or was refused before changes nothing. One that was preempted counts among `resumed` when it goes
/// on, since what it finds then is mostly its own. A request of which nothing could be looked up, because
/// caching is off, and the replay of a finished one (which belongs to no run) count nowhere.
class HitRates {
 public:
  explicit HitRates(std::int64_t mostRequests = HitRateWindow::kMostRequests) : m_recent(mostRequests) {}

  void take(const Event& event);

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

}  // namespace spanscope::trace
