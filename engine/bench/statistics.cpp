// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace spanscope::bench {
namespace {

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = place - static_cast<double>(below);
  return sorted[below] * (1 - weight) + sorted[above] * weight;
}

}  // namespace

Summary summarize(std::vector<double> samples) {
  Summary summary;
  if (!samples.empty()) {
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    summary.median = quantile(sorted, 0.5);
    summary.lower = quantile(sorted, 0.25);
    summary.upper = quantile(sorted, 0.75);
  }
  summary.samples = std::move(samples);
  return summary;
}

}  // namespace spanscope::bench
