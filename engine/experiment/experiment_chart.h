// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the chart of an experiment: lines with their spread, a heat map, or histograms. Writes the results as
// a table and as comma-separated values. Open this file to change these charts, or to add a column.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

// The results of an experiment as the cells of a heat map and the bars of histograms, for its charts.

enum class ChartKind : std::uint8_t {
  Lines,       ///< one line per series: medians with their spread
  HeatMap,     ///< one cell per place
  Histograms,  ///< the distribution of each series' samples, one below the other
};
/// Returns the names in options: "lines", "heat", "histogram".
const char* chartKindName(ChartKind kind);
std::optional<ChartKind> chartKindOf(std::string_view name);

/// Returns the kinds of chart that an experiment can have, the default first.
std::vector<ChartKind> chartKindsOf(const Experiment& experiment);

/// Returns the cells and the scale of a heat map of one measure, without its texts. Empty if there is no
/// point. The columns are the first axis. With a second axis, there is one panel per series, with this axis
/// as its rows. Without a second axis, there is one panel with the series as its rows. Shades go from the min
/// to the max value of the map. For shares, the shades go from 0 to 100.
HeatChart heatCellsOf(const ExperimentResult& result, std::size_t measure);

/// Returns the bars and the axis of histograms of one measure's samples, without their texts. The histograms
/// show one place of the first axis or, without `place`, all places. Bins have equal widths. If the samples
/// span more than two powers of ten, the bins have equal factors.
HistogramChart histogramsOf(const ExperimentResult& result, std::size_t measure, std::optional<double> place);

/// The choice of what is drawn.
struct ExperimentDrawing {
  std::size_t measure = 0;
  ChartKind kind = ChartKind::Lines;
  std::optional<double> place{};  ///< of the first axis, for histograms; nothing: all places together
};

/// Translates a text of an experiment for the reader. Without a function: unchanged.
using ChartWords = std::function<std::string(const char*)>;

/// Returns the drawn chart of one measure. Empty if the result has no point.
Chart experimentChart(const ExperimentResult& result, const ExperimentDrawing& drawing,
                      const ChartWords& words = nullptr);

/// Returns the chart as a picture. Empty without a point.
std::string experimentSvg(const ExperimentResult& result, const ExperimentDrawing& drawing = {});

/// Returns the name and the unit of a measure, such as "time to first token, ms".
std::string measureTitle(const Measure& measure, const ChartWords& words = nullptr);

/// One row per place. The lines of the chart are in the order of their first points. Within a line, the rows
/// are sorted by x, then y. The columns are line, x, y (with a second axis) and repeats. Each measure has
/// median and spread ("2.1 … 2.6"). The spread is the quartiles or, for fewer than five repeats, min and max.
struct ExperimentTable {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};
ExperimentTable experimentTable(const ExperimentResult& result);

/// Returns all results, for other programs. After a header line there is one line per place and measure. Each
/// line has the metric, its spread, every sample, and the setup.
std::string experimentCsv(const ExperimentResult& result);

/// Returns the points in the order of the table.
std::vector<const ExperimentPoint*> sortedPoints(const ExperimentResult& result);

/// Returns the summary of one measure of a point.
ChartNumber valueOf(const ExperimentPoint& point, std::size_t index, const Measure& measure);

/// Returns the setup of the measurement: model, device, threads, repeats, seed and settings.
std::string experimentSetup(const ExperimentResult& result);

}  // namespace spanscope::experiment
