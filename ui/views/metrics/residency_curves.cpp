// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/metrics/residency_curves.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {
namespace {

ShareCurve curveOf(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  ShareCurve curve;
  const std::size_t points = std::min(seconds.size(), ResidencyCurves::kMostPoints);
  for (std::size_t point = 1; point <= points; ++point) {
    const std::size_t count = point * seconds.size() / points;
    curve.push_back({.seconds = seconds[count - 1],
                     .share = static_cast<double>(count) / static_cast<double>(seconds.size())});
  }
  return curve;
}

ResidencyCurves curvesOf(const std::vector<metrics::Residency>& evicted) {
  std::vector<double> lifetimes;
  std::vector<double> idles;
  std::vector<double> gaps;
  const auto seconds = [](std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; };
  for (const metrics::Residency& residency : evicted) {
    lifetimes.push_back(seconds(residency.lifetime));
    idles.push_back(seconds(residency.idle));
    for (const std::int64_t gap : residency.gaps) gaps.push_back(seconds(gap));
  }
  return {.medians = metrics::metricsOf(evicted),
          .lifetime = curveOf(std::move(lifetimes)),
          .idle = curveOf(std::move(idles)),
          .gap = curveOf(std::move(gaps))};
}

}  // namespace

void ResidencyFollower::follow(const std::shared_ptr<const TraceStore>& trace, std::size_t position) {
  if (trace != m_trace || position < m_position) *this = ResidencyFollower();
  m_trace = trace;
  const std::size_t evicted = m_residencies.evicted().size();
  for (; m_position < position; ++m_position) m_residencies.take(trace->event(m_position));
  if (m_residencies.evicted().size() != evicted) m_curves = curvesOf(m_residencies.evicted());
}

}  // namespace spanscope::ui
