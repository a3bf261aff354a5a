// SPDX-License-Identifier: GPL-3.0-or-later
// Totals of runs and their requests, for the functions of the metric table.
#pragma once

#include "engine/metrics/metric_table.h"
#include "ui/session/run_list.h"

#include <cstddef>
#include <map>
#include <memory>

namespace spanscope::ui {

/// Follows traces for the metrics that need all events of a session. Each call reads only the new events. The
/// object keeps no trace alive.
class RunMeters {
 public:
  /// The meters of one request. Empty if the request was not admitted yet, or if the events of the request
  /// are no longer in memory.
  metrics::Metered of(const ListedRun& run, RequestId request);

 private:
  struct Followed {
    std::weak_ptr<const TraceStore> trace;
    std::size_t position = 0;
    metrics::Meters meters;
  };
  std::map<const TraceStore*, Followed> m_followed;
};

metrics::Totals totalsOf(const ListedRun& run, RequestId request, RunMeters& meters);
/// The totals of all requests of the run. The caller adds the speeds.
metrics::Totals totalsOf(const ListedRun& run, RunMeters& meters);

}  // namespace spanscope::ui
