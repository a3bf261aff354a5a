// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace says of the cache over a long time: hit rates of the newest requests, and how long contents
// stay.
#pragma once

#include "engine/trace/hit_rate.h"
#include "engine/trace/residency.h"
#include "ui/session/trace_store.h"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace spanscope::ui {

/// A share of what was measured that lies at or below a value.
struct SharePoint {
  double seconds = 0;
  double share = 0;  ///< 0 … 1, rising
  bool operator==(const SharePoint&) const = default;
};
using ShareCurve = std::vector<SharePoint>;

/// How long contents that were evicted had been in the pool.
struct ResidencyCurves {
  static constexpr std::size_t kMostPoints = 64;  ///< of a curve

  trace::ResidencyFigures figures;
  ShareCurve lifetime;
  ShareCurve idle;
  ShareCurve gap;
  bool operator==(const ResidencyCurves&) const = default;
};

/// Follows a trace; going on costs the new events only.
class CacheFigureSampler {
 public:
  void follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position);

  /// The hit rate of the newest requests, 0 … 1, right after each one was admitted.
  const std::map<RequestId, double>& recentRates() const { return m_rates; }
  const ResidencyCurves& residency() const { return m_curves; }

 private:
  std::shared_ptr<const TraceStore> m_trace;
  std::size_t m_position = 0;
  trace::HitRates m_hits;
  trace::ResidencySampler m_residencies;
  std::map<RequestId, double> m_rates;
  ResidencyCurves m_curves;
};

}  // namespace spanscope::ui
