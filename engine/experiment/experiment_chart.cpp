// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_chart.h"

#include "engine/base/counted.h"
#include "engine/experiment/chart.h"

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
  return std::ranges::find_if(kKinds, [kind](const auto& one) { return one.first == kind; })->second;
}

std::optional<ChartKind> chartKindOf(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kKinds, [name](const auto& one) { return name == one.second; });
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
    const auto line =
        static_cast<std::size_t>(std::distance(series.begin(), std::ranges::find(series, point.series)));
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

namespace {

std::string valueText(double value, const Measure& measure) {
  // With a fixed number of digits, very small values would read as 0.
  if (value != 0 && std::abs(value) < std::pow(10.0, -measure.digits)) return fmt::format("{:.1e}", value);
  return fmt::format("{:.{}f}", value, measure.digits);
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char letter : text) out += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return out + '"';
}

}  // namespace

std::vector<const ExperimentPoint*> sortedPoints(const ExperimentResult& result) {
  std::vector<const ExperimentPoint*> sorted;
  for (const std::string& series : result.series()) {
    const auto first = static_cast<std::ptrdiff_t>(sorted.size());
    for (const ExperimentPoint& point : result.points) {
      if (point.series == series) sorted.push_back(&point);
    }
    std::stable_sort(sorted.begin() + first, sorted.end(),
                     [](const ExperimentPoint* a, const ExperimentPoint* b) {
                       return a->x != b->x ? a->x < b->x : a->y < b->y;
                     });
  }
  return sorted;
}

ChartNumber valueOf(const ExperimentPoint& point, std::size_t index, const Measure& measure) {
  const Summary summary = summarize(point.samples[index]);
  const std::size_t count = summary.samples.size();
  if (measure.number == MetricKind::Share) {
    const auto yes = std::ranges::count_if(summary.samples, [](double sample) { return sample > 50; });
    const ShareInterval interval = wilsonInterval(yes, static_cast<std::int64_t>(count));
    return {.value = count == 0 ? 0 : 100.0 * static_cast<double>(yes) / static_cast<double>(count),
            .low = 100 * interval.low,
            .high = 100 * interval.high,
            .samples = count};
  }
  const bool hasQuartiles = count >= kFewestForQuartiles;
  return {.value = summary.median,
          .low = hasQuartiles ? summary.lower : summary.least(),
          .high = hasQuartiles ? summary.upper : summary.most(),
          .samples = count};
}

ExperimentTable experimentTable(const ExperimentResult& result) {
  ExperimentTable table;
  const Experiment* experiment = findExperiment(result.request.experiment);
  if (experiment == nullptr) return table;
  const bool hasRows = *experiment->yName != '\0';
  table.titles = {"line", experiment->xName};
  if (hasRows) table.titles.emplace_back(experiment->yName);
  table.titles.emplace_back("samples");
  for (const Measure& measure : experiment->measures) {
    table.titles.push_back(std::string(measure.name) + (*measure.unit == '\0' ? "" : ", ") + measure.unit);
    table.titles.emplace_back("spread");
  }
  for (const ExperimentPoint* point : sortedPoints(result)) {
    std::vector<std::string> row{point->series, fmt::format("{:g}", point->x)};
    if (hasRows) row.push_back(fmt::format("{:g}", point->y));
    row.push_back(std::to_string(point->samples.front().size()));
    for (std::size_t i = 0; i < experiment->measures.size(); ++i) {
      const Measure& measure = experiment->measures[i];
      const ChartNumber number = valueOf(*point, i, measure);
      row.push_back(number.samples == 0 ? "–" : valueText(number.value, measure));
      row.push_back(number.samples < 2
                        ? "–"
                        : valueText(number.low, measure) + " … " + valueText(number.high, measure));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string experimentSetup(const ExperimentResult& result) {
  std::string text = result.model + ", " + result.machine + "; " + counted(result.request.repeats, "repeat") +
                     ", seed " + std::to_string(result.request.seed);
  const Experiment* experiment = findExperiment(result.request.experiment);
  if (experiment == nullptr) return text;
  if (result.request.own) text += "; documents of “" + result.request.own->name() + "”";
  if (!result.request.expected.empty()) text += "; expected answer “" + result.request.expected + "”";
  for (const ExperimentField& field : fieldsOf(*experiment)) {
    const auto value = result.request.values.find(field.key);
    if (field.kind == FieldKind::Number && value != result.request.values.end())
      text += std::string("; ") + field.key + " " + value->second;
  }
  return text;
}

std::string experimentCsv(const ExperimentResult& result) {
  const Experiment* experiment = findExperiment(result.request.experiment);
  const bool hasRows = experiment != nullptr && *experiment->yName != '\0';
  std::string text =
      fmt::format("experiment,model,machine,line,x name,x,{}measure,unit,figure,value,low,high,samples\n",
                  hasRows ? "y name,y," : "");
  if (experiment == nullptr) return text;
  for (const ExperimentPoint* point : sortedPoints(result)) {
    for (std::size_t i = 0; i < experiment->measures.size(); ++i) {
      const Measure& measure = experiment->measures[i];
      const ChartNumber number = valueOf(*point, i, measure);
      std::string samples;
      for (const double sample : point->samples[i])
        samples += (samples.empty() ? "" : " ") + fmt::format("{:.17g}", sample);
      const std::string y = hasRows ? fmt::format("{},{:g},", quoted(experiment->yName), point->y) : "";
      text += fmt::format("{},{},{},{},{},{:g},{}{},{},{},{:.17g},{:.17g},{:.17g},{}\n", experiment->name,
                          quoted(result.model), quoted(result.machine), quoted(point->series),
                          quoted(experiment->xName), point->x, y, measure.key, measure.unit,
                          measure.number == MetricKind::Share ? "share" : "median", number.value, number.low,
                          number.high, samples);
    }
  }
  return text;
}

}  // namespace spanscope::experiment
