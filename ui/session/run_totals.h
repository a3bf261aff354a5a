// SPDX-License-Identifier: GPL-3.0-or-later
// What runs and their requests came to, for the functions of the table of metrics.
#pragma once

#include "engine/metrics/metric_table.h"
#include "ui/session/run_list.h"

#include <cstddef>
#include <map>
#include <memory>

namespace spanscope::ui {

/// Follows traces for the metrics that need all events of a session. Following on takes time only for new
/// events. It keeps no trace alive.
class RunMeters {
 public:
  /// Of one request. Empty before it is admitted, and where the events are no longer in memory.
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
/// Of all requests of the run. Its speeds are left to the caller.
metrics::Totals totalsOf(const ListedRun& run, RunMeters& meters);

}  // namespace spanscope::ui
