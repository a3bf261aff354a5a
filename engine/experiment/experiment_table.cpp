// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_table.h"

#include "engine/base/counted.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::experiment {
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
    const auto yes = std::count_if(summary.samples.begin(), summary.samples.end(),
                                   [](double sample) { return sample > 50; });
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
