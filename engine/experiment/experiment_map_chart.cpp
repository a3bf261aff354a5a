// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/experiment/charts.h"
#include "engine/experiment/experiment_chart.h"
#include "engine/experiment/histogram_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace spanscope::experiment {
namespace {

std::string heatSvg(const ExperimentResult& result, const Experiment& experiment, std::size_t measure) {
  const HeatMap map = heatMapOf(result, measure);
  HeatChart chart;
  chart.texts = {.title = std::string(experiment.title) + ": " + measureTitle(experiment.measures[measure]),
                 .subtitle = experimentSetup(result),
                 .xLabel = experiment.xName,
                 .yLabel = experiment.yName};
  chart.rowNames = map.rows;
  chart.columnNames = map.columns;
  for (const HeatMapPanel& panel : map.panels) {
    HeatPanel& drawn = chart.panels.emplace_back();
    drawn.title = panel.title;
    for (const auto& row : panel.cells) {
      std::vector<std::optional<double>>& cells = drawn.cells.emplace_back();
      for (const std::optional<HeatMapCell>& cell : row)
        cells.push_back(cell ? std::optional(cell->shade) : std::nullopt);
    }
  }
  chart.text = [&map](double share) { return shortNumber(map.at(share)); };
  return heatChartSvg(chart);
}

std::string histogramsSvg(const ExperimentResult& result, const Experiment& experiment,
                          const ExperimentDrawing& drawing) {
  const Histograms histograms = histogramsOf(result, drawing.measure, drawing.place);
  if (histograms.edges.empty()) return {};
  HistogramChart chart;
  const std::string at =
      drawing.place ? fmt::format(", {:g} {}", *drawing.place, experiment.xName) : std::string();
  chart.texts = {.title = std::string(experiment.title) + at,
                 .subtitle = experimentSetup(result),
                 .xLabel = measureTitle(experiment.measures[drawing.measure]),
                 .yLabel = "samples, %"};
  chart.hasZeros = histograms.hasZeros;
  double most = 0;
  for (const Histogram& part : histograms.parts) {
    HistogramPart& drawn = chart.parts.emplace_back();
    drawn.title = part.series;
    drawn.subtitle = counted(part.total, "sample") + ", median " + shortNumber(part.median);
    const double total = static_cast<double>(std::max<std::size_t>(1, part.total));
    if (histograms.hasZeros) drawn.bars.push_back(static_cast<double>(part.zeros) / total);
    for (const std::size_t count : part.counts) drawn.bars.push_back(static_cast<double>(count) / total);
    for (const double bar : drawn.bars) most = std::max(most, bar);
  }
  for (HistogramPart& part : chart.parts) {
    for (double& bar : part.bars) bar /= most > 0 ? most : 1;
  }
  chart.most = fmt::format("{:.0f} %", 100 * most);
  for (const AxisTick& tick : histogramTicks(histograms))
    chart.marks.push_back({.place = tick.place, .text = shortNumber(tick.value)});
  return histogramChartSvg(chart);
}

}  // namespace

std::string measureTitle(const Measure& measure) {
  return std::string(measure.name) + (*measure.unit == '\0' ? "" : ", ") + measure.unit;
}

std::vector<AxisTick> histogramTicks(const Histograms& histograms) {
  constexpr int kMost = 8;
  std::vector<AxisTick> ticks;
  if (histograms.edges.size() < 2) return ticks;
  const double low = histograms.edges.front();
  const double high = histograms.edges.back();
  if (histograms.isLogarithmic) {
    const int first = static_cast<int>(std::ceil(std::log10(low)));
    const int last = static_cast<int>(std::floor(std::log10(high)));
    const int stride = std::max(1, (last - first + kMost) / kMost);
    for (int power = first; power <= last; power += stride) {
      const double value = std::pow(10, power);
      ticks.push_back({.place = std::log(value / low) / std::log(high / low), .value = value});
    }
    return ticks;
  }
  const std::vector<double> round = axisTicks(0, high - low, false);
  const double stride = round.size() > 1 ? round[1] - round[0] : high - low;
  for (double value = std::ceil(low / stride) * stride; value <= high + stride * 1e-9; value += stride)
    ticks.push_back(
        {.place = (value - low) / (high - low), .value = std::abs(value) < stride * 1e-9 ? 0 : value});
  return ticks;
}

std::string experimentSvg(const ExperimentResult& result, const ExperimentDrawing& drawing) {
  const Experiment* experiment = findExperiment(result.wish.experiment);
  if (experiment == nullptr || result.points.empty() || drawing.measure >= experiment->measures.size())
    return {};
  switch (drawing.kind) {
    case ChartKind::Lines:
      return experimentLinesSvg(result, drawing.measure);
    case ChartKind::HeatMap:
      return heatSvg(result, *experiment, drawing.measure);
    case ChartKind::Histograms:
      return histogramsSvg(result, *experiment, drawing);
  }
  return {};
}

}  // namespace spanscope::experiment
