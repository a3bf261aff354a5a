// SPDX-License-Identifier: GPL-3.0-or-later
// The results of an experiment as the cells of a heat map and the bars of histograms, for its charts.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

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

}  // namespace spanscope::experiment
