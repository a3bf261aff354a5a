// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/meters.h"

#include "engine/metrics/metric_table.h"
#include "engine/trace/hit_rate.h"

#include <variant>

namespace spanscope::metrics {
namespace {

class RecentHitRate : public Meter {
 public:
  void take(const trace::Event& event) override {
    m_hits.take(event);
    const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload);
    if (admitted != nullptr && !admitted->resumed && m_hits.recent().sums().requests > 0)
      give(event.request, m_hits.recent().rate());
  }

 private:
  trace::HitRates m_hits;
};

}  // namespace

std::optional<double> Meter::of(RequestId request) const {
  const auto found = m_values.find(request);
  return found == m_values.end() ? std::nullopt : std::optional(found->second);
}

Meters::Meters() {
  for (const Metric& metric : all()) {
    if (metric.meter != nullptr) m_meters.emplace_back(&metric, metric.meter());
  }
}

void Meters::take(const trace::Event& event) {
  for (const auto& [metric, meter] : m_meters) meter->take(event);
}

Metered Meters::of(RequestId request) const {
  Metered metered;
  for (const auto& [metric, meter] : m_meters) {
    if (const std::optional<double> value = meter->of(request)) metered[metric->id] = *value;
  }
  return metered;
}

Metered Meters::of(std::span<const RequestId> requests) const {
  Metered metered;
  for (const RequestId request : requests) addTo(metered, of(request));
  return metered;
}

void addTo(Metered& metered, const Metered& later) {
  for (const auto& [id, value] : later) {
    double& sum = metered[id];
    sum = get(id).over == Over::Sum ? sum + value : value;
  }
}

std::unique_ptr<Meter> recentHitRate() {
  return std::make_unique<RecentHitRate>();
}

}  // namespace spanscope::metrics
