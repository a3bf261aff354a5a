// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace spanscope::experiment {
namespace {

constexpr std::array kKinds = {std::pair{ChartKind::Lines, "lines"}, std::pair{ChartKind::HeatMap, "heat"},
                               std::pair{ChartKind::Histograms, "histogram"}};

const Measure* measureOf(const ExperimentResult& result, std::size_t index) {
  const Experiment* experiment = findExperiment(result.wish.experiment);
  return experiment != nullptr && index < experiment->measures.size() ? &experiment->measures[index]
                                                                      : nullptr;
}

std::size_t placeIn(const std::set<double>& values, double value) {
  return static_cast<std::size_t>(std::distance(values.begin(), values.find(value)));
}

double shadeOf(const HeatMap& map, double value) {
  if (!(map.high > map.low)) return 0;
  const double share = map.isLogarithmic ? std::log(value / map.low) / std::log(map.high / map.low)
                                         : (value - map.low) / (map.high - map.low);
  return std::clamp(share, 0.0, 1.0);
}

/// What the colours reach over: all of a share, else from the least to the most.
void setScale(HeatMap& map, const Measure& measure) {
  if (measure.figure == FigureKind::Share) {
    map.high = 100;
  } else {
    map.low = std::numeric_limits<double>::infinity();
    map.high = -map.low;
    for (const HeatMapPanel& panel : map.panels) {
      for (const auto& row : panel.cells) {
        for (const std::optional<HeatMapCell>& cell : row) {
          if (!cell) continue;
          map.low = std::min(map.low, cell->figure.value);
          map.high = std::max(map.high, cell->figure.value);
        }
      }
    }
    map.isLogarithmic = measure.isLogarithmic && map.low > 0;
  }
  for (HeatMapPanel& panel : map.panels) {
    for (auto& row : panel.cells) {
      for (std::optional<HeatMapCell>& cell : row) {
        if (cell) cell->shade = shadeOf(map, cell->figure.value);
      }
    }
  }
}

/// Rice's rule, within what can still be told apart.
std::size_t binsFor(std::size_t samples) {
  const double bins = std::ceil(2 * std::cbrt(static_cast<double>(samples)));
  return static_cast<std::size_t>(std::clamp(bins, 4.0, 30.0));
}

}  // namespace

const char* chartKindName(ChartKind kind) {
  return std::find_if(kKinds.begin(), kKinds.end(), [kind](const auto& one) { return one.first == kind; })
      ->second;
}

std::optional<ChartKind> chartKindOf(std::string_view name) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [name](const auto& one) { return name == one.second; });
  if (found == kKinds.end()) return std::nullopt;
  return found->first;
}

std::vector<ChartKind> chartKindsOf(const Experiment& experiment) {
  if (*experiment.yName != '\0') return {ChartKind::HeatMap, ChartKind::Histograms};
  return {ChartKind::Lines, ChartKind::HeatMap, ChartKind::Histograms};
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

double HeatMap::at(double share) const {
  return isLogarithmic ? low * std::pow(high / low, share) : low + (high - low) * share;
}

HeatMap heatMapOf(const ExperimentResult& result, std::size_t measureIndex) {
  HeatMap map;
  const Measure* measure = measureOf(result, measureIndex);
  if (measure == nullptr || result.points.empty()) return map;
  const bool hasRows = *findExperiment(result.wish.experiment)->yName != '\0';
  const std::vector<std::string> series = result.series();
  std::set<double> columns;
  std::set<double> rows;
  for (const ExperimentPoint& point : result.points) {
    columns.insert(point.x);
    rows.insert(point.y);
  }
  for (const double column : columns) map.columns.push_back(fmt::format("{:g}", column));
  if (hasRows) {
    for (const double row : rows) map.rows.push_back(fmt::format("{:g}", row));
  } else {
    map.rows = series;
  }
  map.panels.resize(hasRows ? series.size() : 1);
  for (HeatMapPanel& panel : map.panels)
    panel.cells.assign(map.rows.size(), std::vector<std::optional<HeatMapCell>>(map.columns.size()));
  for (const ExperimentPoint& point : result.points) {
    const auto line = static_cast<std::size_t>(
        std::distance(series.begin(), std::find(series.begin(), series.end(), point.series)));
    if (hasRows) map.panels[line].title = point.series;
    const Figure figure = figureOf(point, measureIndex, *measure);
    if (figure.samples == 0) continue;
    map.panels[hasRows ? line : 0].cells[hasRows ? placeIn(rows, point.y) : line][placeIn(columns, point.x)] =
        HeatMapCell{.figure = figure, .shade = 0};
  }
  setScale(map, *measure);
  return map;
}

Histograms histogramsOf(const ExperimentResult& result, std::size_t measure, std::optional<double> place) {
  constexpr double kWide = 100;  // from this factor between least and most on, bins are of equal factor
  Histograms found;
  if (measureOf(result, measure) == nullptr) return found;
  std::vector<std::vector<double>> samples;
  double least = std::numeric_limits<double>::infinity();
  double leastPositive = least;
  double most = -least;
  std::size_t largest = 0;
  for (const std::string& series : result.series()) {
    std::vector<double>& all = samples.emplace_back();
    for (const ExperimentPoint& point : result.points) {
      if (point.series != series || (place && point.x != *place)) continue;
      all.insert(all.end(), point.samples[measure].begin(), point.samples[measure].end());
    }
    for (const double sample : all) {
      least = std::min(least, sample);
      most = std::max(most, sample);
      if (sample > 0) leastPositive = std::min(leastPositive, sample);
    }
    largest = std::max(largest, all.size());
    found.parts.push_back(
        {.series = series, .counts = {}, .total = all.size(), .median = summarize(all).median});
  }
  if (largest == 0) return {};
  found.isLogarithmic = least >= 0 && most > kWide * leastPositive;
  const std::size_t bins = binsFor(largest);
  double low = found.isLogarithmic ? std::log(leastPositive) : least;
  double high = found.isLogarithmic ? std::log(most) : most;
  if (!(high > low)) {
    // All are the same: one bin's width around them.
    const double beside = low == 0 ? 0.5 : std::abs(low) / 20;
    low -= beside;
    high += beside;
  }
  const double width = (high - low) / static_cast<double>(bins);
  for (std::size_t i = 0; i <= bins; ++i) {
    const double edge = low + width * static_cast<double>(i);
    found.edges.push_back(found.isLogarithmic ? std::exp(edge) : edge);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Histogram& part = found.parts[i];
    part.counts.assign(bins, 0);
    for (const double sample : samples[i]) {
      if (found.isLogarithmic && sample <= 0) {
        ++part.zeros;
        continue;
      }
      const double at = ((found.isLogarithmic ? std::log(sample) : sample) - low) / width;
      ++part.counts[std::min(static_cast<std::size_t>(std::max(at, 0.0)), bins - 1)];
    }
    found.hasZeros = found.hasZeros || part.zeros > 0;
  }
  return found;
}

}  // namespace spanscope::experiment
