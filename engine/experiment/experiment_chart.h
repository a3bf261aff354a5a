// SPDX-License-Identifier: GPL-3.0-or-later
// The chart of an experiment: lines with their spread, a heat map, or histograms.
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
/// The names in options: "lines", "heat", "histogram".
const char* chartKindName(ChartKind kind);
std::optional<ChartKind> chartKindOf(std::string_view name);

/// The kinds of chart that an experiment can have, the usual one first.
std::vector<ChartKind> chartKindsOf(const Experiment& experiment);

/// The cells and the scale of a heat map of one measure, without its texts. It is empty if there is no point.
/// With a second axis there is one panel per series, with this axis as its rows. Without, there is one panel
/// with the series as its rows. The columns are the first axis. Shades go from the least to the greatest
/// value of the map; for shares they go from 0 to 100.
HeatChart heatCellsOf(const ExperimentResult& result, std::size_t measure);

/// The bars and the axis of histograms of the samples of one measure, without their texts: at one place of
/// the first axis or, without `place`, of all places together. Bins have equal widths. If the samples span
/// more than two powers of ten, the bins have equal factors instead.
HistogramChart histogramsOf(const ExperimentResult& result, std::size_t measure, std::optional<double> place);

/// What is drawn of one.
struct ExperimentDrawing {
  std::size_t measure = 0;
  ChartKind kind = ChartKind::Lines;
  std::optional<double> place{};  ///< of the first axis, for histograms; nothing: all of them together
};

/// A text of an experiment in the language of who reads the chart; unset: as it stands.
using ChartWords = std::function<std::string(const char*)>;

/// Nothing where there is no point.
Chart experimentChart(const ExperimentResult& result, const ExperimentDrawing& drawing,
                      const ChartWords& words = nullptr);

/// The same as a picture; empty where there is no point.
std::string experimentSvg(const ExperimentResult& result, const ExperimentDrawing& drawing = {});

/// "time to first token, ms"
std::string measureTitle(const Measure& measure, const ChartWords& words = nullptr);

}  // namespace spanscope::experiment
