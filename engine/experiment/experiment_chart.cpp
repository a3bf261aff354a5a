// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_chart.h"

#include "engine/experiment/chart_svg.h"
#include "engine/experiment/experiment_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace spanscope::experiment {

namespace {

std::string said(const char* text, const ChartWords& words) {
  return words ? words(text) : std::string(text);
}

struct Maker {
  const ExperimentResult& result;
  const Experiment& experiment;
  const ExperimentDrawing& drawing;
  const ChartWords& words;

  const Measure& measure() const { return experiment.measures[drawing.measure]; }

  ChartTexts texts(std::string title) const {
    return {.title = std::move(title),
            .subtitle = experimentSetup(result),
            .xLabel = said(experiment.xName, words),
            .yLabel = measureTitle(measure(), words)};
  }

  Chart lines() const {
    LineChart chart;
    chart.texts = texts(said(experiment.title, words));
    std::vector<double> places;
    double low = std::numeric_limits<double>::infinity();
    double high = 0;
    for (const ExperimentPoint* point : sortedPoints(result)) {
      if (chart.series.empty() || chart.series.back().name != point->series)
        chart.series.push_back({.name = point->series, .points = {}});
      const ChartNumber number = valueOf(*point, drawing.measure, measure());
      chart.series.back().points.push_back({.x = point->x, .number = number});
      places.push_back(point->x);
      low = std::min(low, number.low);
      high = std::max(high, number.high);
    }
    chart.x = placesAxis(std::move(places), experiment.isXLogarithmic);
    chart.y = roundAxis(low, high, measure().isLogarithmic);
    return chart;
  }

  Chart heatMap() const {
    HeatChart chart = heatCellsOf(result, drawing.measure);
    chart.texts = texts(said(experiment.title, words) + ": " + measureTitle(measure(), words));
    chart.texts.yLabel = said(experiment.yName, words);
    return chart;
  }

  Chart histograms() const {
    HistogramChart chart = histogramsOf(result, drawing.measure, drawing.place);
    if (chart.edges.empty()) return {};
    const std::string at = drawing.place
                               ? fmt::format(", {:g} {}", *drawing.place, said(experiment.xName, words))
                               : std::string();
    chart.texts = texts(said(experiment.title, words) + at);
    chart.texts.xLabel = chart.texts.yLabel;
    chart.texts.yLabel = "samples, %";
    return chart;
  }
};

}  // namespace

std::string measureTitle(const Measure& measure, const ChartWords& words) {
  return said(measure.name, words) + (*measure.unit == '\0' ? "" : ", ") + measure.unit;
}

Chart experimentChart(const ExperimentResult& result, const ExperimentDrawing& drawing,
                      const ChartWords& words) {
  const Experiment* experiment = findExperiment(result.request.experiment);
  if (experiment == nullptr || result.points.empty() || drawing.measure >= experiment->measures.size())
    return {};
  const Maker maker{result, *experiment, drawing, words};
  switch (drawing.kind) {
    case ChartKind::Lines:
      return maker.lines();
    case ChartKind::HeatMap:
      return maker.heatMap();
    case ChartKind::Histograms:
      return maker.histograms();
  }
  return {};
}

std::string experimentSvg(const ExperimentResult& result, const ExperimentDrawing& drawing) {
  return chartSvg(experimentChart(result, drawing));
}

namespace {

constexpr std::array kKinds = {std::pair{ChartKind::Lines, "lines"}, std::pair{ChartKind::HeatMap, "heat"},
                               std::pair{ChartKind::Histograms, "histogram"}};

const Measure* measureOf(const ExperimentResult& result, std::size_t index) {
  const Experiment* experiment = findExperiment(result.request.experiment);
  return experiment != nullptr && index < experiment->measures.size() ? &experiment->measures[index]
                                                                      : nullptr;
}

std::size_t placeIn(const std::set<double>& values, double value) {
  return static_cast<std::size_t>(std::distance(values.begin(), values.find(value)));
}

/// The range of values that the colours of a map cover.
struct Scale {
  double low = 0;
  double high = 100;
  bool isLogarithmic = false;

  double shadeOf(double value) const {
    if (!(high > low)) return 0;
    const double share =
        isLogarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return std::clamp(share, 0.0, 1.0);
  }
  double at(double share) const {
    return isLogarithmic ? low * std::pow(high / low, share) : low + (high - low) * share;
  }
};

template <class Visit>
void forEachCell(HeatChart& map, Visit visit) {
  for (HeatMapPanel& panel : map.panels) {
    for (auto& row : panel.cells) {
      for (std::optional<HeatMapCell>& cell : row) {
        if (cell) visit(*cell);
      }
    }
  }
}

/// Sets 0 to 100 for a share, and otherwise the min to the max of the values.
void setScale(HeatChart& map, const Measure& measure) {
  Scale scale;
  if (measure.number != MetricKind::Share) {
    scale.low = std::numeric_limits<double>::infinity();
    scale.high = -scale.low;
    forEachCell(map, [&scale](const HeatMapCell& cell) {
      scale.low = std::min(scale.low, cell.number.value);
      scale.high = std::max(scale.high, cell.number.value);
    });
    scale.isLogarithmic = measure.isLogarithmic && scale.low > 0;
  }
  forEachCell(map, [&scale](HeatMapCell& cell) {
    cell.shade = scale.shadeOf(cell.number.value);
    cell.text = shortNumber(cell.number.value);
  });
  for (const double share : {0.0, 0.5, 1.0})
    map.scale.push_back({.at = share, .text = shortNumber(scale.at(share))});
}

/// Rice's rule, limited so that bars can be distinguished.
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

HeatChart heatCellsOf(const ExperimentResult& result, std::size_t measureIndex) {
  HeatChart map;
  map.isSpread = true;
  const Measure* measure = measureOf(result, measureIndex);
  if (measure == nullptr || result.points.empty()) return map;
  const bool hasRows = *findExperiment(result.request.experiment)->yName != '\0';
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
    const ChartNumber number = valueOf(point, measureIndex, *measure);
    if (number.samples == 0) continue;
    map.panels[hasRows ? line : 0].cells[hasRows ? placeIn(rows, point.y) : line][placeIn(columns, point.x)] =
        HeatMapCell{.number = number, .shade = 0, .text = {}};
  }
  setScale(map, *measure);
  return map;
}

HistogramChart histogramsOf(const ExperimentResult& result, std::size_t measure,
                            std::optional<double> place) {
  constexpr double kWide = 100;  // from this ratio of max to min on, bins have equal factors
  HistogramChart found;
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
    // All values are equal: the axis gets a small range around them.
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
  found.ticks = histogramTicks(found);
  return found;
}

}  // namespace spanscope::experiment
