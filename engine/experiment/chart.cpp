// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/chart.h"

#include "engine/trace/line_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::experiment {

HeatMapCell shareCell(double share) {
  return {.number = {.value = 100 * share, .low = 100 * share, .high = 100 * share},
          .shade = share,
          .text = trace::shareNumber(share)};
}

std::vector<ChartTick> shareScale() {
  return {{.at = 0, .text = "0 %"}, {.at = 0.5, .text = "50 %"}, {.at = 1, .text = "100 %"}};
}

double HistogramChart::shareOf(const Histogram& part, std::size_t bar) const {
  return part.total == 0 ? 0 : static_cast<double>(countOf(part, bar)) / static_cast<double>(part.total);
}

double HistogramChart::highestShare() const {
  double most = 0;
  for (const Histogram& part : parts) {
    for (std::size_t bar = 0; bar < bars(); ++bar) most = std::max(most, shareOf(part, bar));
  }
  return most;
}

std::vector<double> axisTicks(double low, double high, bool isLogarithmic) {
  constexpr int kMost = 9;
  std::vector<double> ticks;
  if (isLogarithmic) {
    const int first = static_cast<int>(std::floor(std::log2(low)));
    const int last = static_cast<int>(std::ceil(std::log2(high)));
    const int stride = std::max(1, (last - first + kMost - 1) / kMost);
    for (int power = first; power <= last; power += stride) ticks.push_back(std::exp2(power));
    return ticks;
  }
  if (!(high > low)) return ticks;
  const double rough = (high - low) / 5;
  const double unit = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / unit;
  const double stride = unit * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  const auto steps = static_cast<int>(std::ceil((high - low) / stride - 1e-9));
  for (int i = 0; i <= steps; ++i) ticks.push_back(low + stride * i);
  return ticks;
}

ChartAxis roundAxis(double low, double high, bool wantsLogarithm) {
  ChartAxis axis{.isLogarithmic = wantsLogarithm && low > 0, .ticks = {}};
  if (axis.isLogarithmic) {
    axis.low = std::exp2(std::floor(std::log2(low)));
    axis.high = std::exp2(std::ceil(std::log2(high)));
    if (axis.high <= axis.low) axis.high = 2 * axis.low;
  } else {
    const std::vector<double> ticks = axisTicks(0, high, false);
    axis.high = ticks.empty() || ticks.back() <= 0 ? 1 : ticks.back();
  }
  for (const double tick : axisTicks(axis.low, axis.high, axis.isLogarithmic))
    axis.ticks.push_back({.at = tick, .text = fmt::format("{:g}", tick)});
  return axis;
}

ChartAxis placesAxis(std::vector<double> places, bool wantsLogarithm) {
  if (places.empty()) return {};
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  ChartAxis axis = roundAxis(places.front(), places.back(), wantsLogarithm);
  axis.ticks.clear();
  for (const double place : places) axis.ticks.push_back({.at = place, .text = fmt::format("{:g}", place)});
  return axis;
}

ChartAxis shareAxis() {
  constexpr int kSteps = 4;
  ChartAxis axis;
  for (int i = 0; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    axis.ticks.push_back({.at = share, .text = fmt::format("{:.0f} %", share * 100)});
  }
  return axis;
}

std::vector<ChartTick> histogramTicks(const HistogramChart& chart) {
  constexpr int kMost = 8;
  std::vector<ChartTick> ticks;
  if (chart.edges.size() < 2) return ticks;
  const auto add = [&ticks](double at, double value) {
    ticks.push_back({.at = at, .text = shortNumber(value)});
  };
  const double low = chart.edges.front();
  const double high = chart.edges.back();
  if (chart.isLogarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(low)));
    const int last = static_cast<int>(std::floor(std::log10(high)));
    const int stride = std::max(1, (last - first + kMost) / kMost);
    for (int power = first; power <= last; power += stride) {
      const double value = std::pow(10, power);
      add(std::log(value / low) / std::log(high / low), value);
    }
    return ticks;
  }
  const std::vector<double> round = axisTicks(0, high - low, false);
  const double stride = round.size() > 1 ? round[1] - round[0] : high - low;
  for (double value = std::ceil(low / stride) * stride; value <= high + stride * 1e-9; value += stride)
    add((value - low) / (high - low), std::abs(value) < stride * 1e-9 ? 0 : value);
  return ticks;
}

std::string shortNumber(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e6 || size < 1e-3) {
    std::string text = fmt::format("{:.1e}", value);
    if (const std::size_t tenth = text.find(".0e"); tenth != std::string::npos) text.erase(tenth, 2);
    return text;
  }
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.{}f}", value, size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 4);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace spanscope::experiment
