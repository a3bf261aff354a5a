// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_chart.h"

#include "engine/experiment/chart_svg.h"
#include "engine/experiment/experiment_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
      const Figure figure = figureOf(*point, drawing.measure, measure());
      chart.series.back().points.push_back({.x = point->x, .figure = figure});
      places.push_back(point->x);
      low = std::min(low, figure.low);
      high = std::max(high, figure.high);
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
  const Experiment* experiment = findExperiment(result.wish.experiment);
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

}  // namespace spanscope::experiment
