// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment found as cells and bars, for its charts.
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

/// The cells and the scale of a heat map of one measure, without its texts; empty where there is no point.
/// With a second axis a panel a series, whose rows are that axis; without, one panel whose rows are the
/// series. Columns are the first axis. Shades go from the least to the most of the map, those of shares from
/// 0 to 100.
HeatChart heatCellsOf(const ExperimentResult& result, std::size_t measure);

/// The bars and the axis of histograms of the samples of one measure, without their texts. At one place of
/// the first axis, or with none given at all of them together. Bins are of equal width, or of equal factor
/// where the samples reach over more than two powers of ten.
HistogramChart histogramsOf(const ExperimentResult& result, std::size_t measure, std::optional<double> place);

}  // namespace spanscope::experiment
