// SPDX-License-Identifier: GPL-3.0-or-later
// The time that contents stay in the pool, over a whole trace.
#pragma once

#include "engine/metrics/pool_metrics.h"
#include "ui/session/trace_store.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace spanscope::ui {

/// The share of all measured values that are at most `seconds`.
struct SharePoint {
  double seconds = 0;
  double share = 0;  ///< 0 … 1, rising
  bool operator==(const SharePoint&) const = default;
};
using ShareCurve = std::vector<SharePoint>;

/// The time that evicted contents had been in the pool.
struct ResidencyCurves {
  static constexpr std::size_t kMostPoints = 64;  ///< points of a curve

  metrics::ResidencyMetrics medians;
  ShareCurve lifetime;
  ShareCurve idle;
  ShareCurve gap;
  bool operator==(const ResidencyCurves&) const = default;
};

/// Follows a trace. A later call takes time only for the new events.
class ResidencyFollower {
 public:
  void follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position);

  const ResidencyCurves& curves() const { return m_curves; }

 private:
  std::shared_ptr<const TraceStore> m_trace;
  std::size_t m_position = 0;
  metrics::ResidencySampler m_residencies;
  ResidencyCurves m_curves;
};

}  // namespace spanscope::ui
