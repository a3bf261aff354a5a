// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace spanscope::experiment {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = place - static_cast<double>(below);
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

bool hasQuartiles(const Summary& summary) {
  return summary.samples.size() >= kFewestForQuartiles;
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  Summary summary;
  if (!samples.empty()) {
    std::vector<double> sorted = samples;
    std::ranges::sort(sorted);
    summary.median = quantile(sorted, 0.5);
    summary.lower = quantile(sorted, 0.25);
    summary.upper = quantile(sorted, 0.75);
  }
  summary.samples = std::move(samples);
  return summary;
}

double Summary::least() const {
  return samples.empty() ? 0 : *std::ranges::min_element(samples);
}

double Summary::most() const {
  return samples.empty() ? 0 : *std::ranges::max_element(samples);
}

Comparison compareTimes(const Summary& base, const Summary& other) {
  Comparison comparison;
  if (other.median > 0) comparison.factor = base.median / other.median;
  if (std::min(base.samples.size(), other.samples.size()) < kFewestSamples) return comparison;
  const auto low = [](const Summary& time) { return hasQuartiles(time) ? time.lower : time.least(); };
  const auto high = [](const Summary& time) { return hasQuartiles(time) ? time.upper : time.most(); };
  comparison.standing = high(other) < low(base)   ? Standing::Faster
                        : low(other) > high(base) ? Standing::Slower
                                                  : Standing::Unclear;
  return comparison;
}

ShareInterval wilsonInterval(std::int64_t successes, std::int64_t trials) {
  constexpr double kZ = 1.959964;  // the normal distribution's 97.5 % point
  if (trials <= 0) return {};
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double scale = 1 + kZ * kZ / n;
  const double center = (share + kZ * kZ / (2 * n)) / scale;
  const double half = kZ / scale * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  // At 0 and 1 the interval is exact. Rounding errors would otherwise appear there.
  return {.low = successes <= 0 ? 0.0 : std::max(0.0, center - half),
          .high = successes >= trials ? 1.0 : std::min(1.0, center + half)};
}

}  // namespace spanscope::experiment
