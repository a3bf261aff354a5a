// SPDX-License-Identifier: GPL-3.0-or-later
// The results of an experiment as a heat map or as histograms, ready to be drawn. Window and files show the
// same cells and bars.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_table.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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

/// Three significant digits, without an exponent where a person would write none: "88", "0.57", "1177".
std::string shortNumber(double value);

struct HeatMapCell {
  Figure figure{};
  double shade = 0;  ///< 0 … 1, from the least to the greatest value of the map
  bool operator==(const HeatMapCell&) const = default;
};

struct HeatMapPanel {
  std::string title;  ///< of the series; empty if the rows are the series
  std::vector<std::vector<std::optional<HeatMapCell>>> cells;  ///< [row][column]
  bool operator==(const HeatMapPanel&) const = default;
};

/// With a second axis: one panel per series, with this axis as its rows. Without: one panel with the series
/// as its rows. The columns are the first axis.
struct HeatMap {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<HeatMapPanel> panels;
  double low = 0;  ///< the value of the scale's first colour
  double high = 1;
  bool isLogarithmic = false;
  bool operator==(const HeatMap&) const = default;

  /// The value at a share of the scale.
  double at(double share) const;
};

/// The heat map of one measure. It is empty if there is no point.
HeatMap heatMapOf(const ExperimentResult& result, std::size_t measure);

struct Histogram {
  std::string series;
  std::vector<std::size_t> counts;  ///< by bin
  std::size_t zeros = 0;            ///< samples of 0 or less, which have no place on a logarithmic axis
  std::size_t total = 0;            ///< number of samples, including zeros
  double median = 0;
  bool operator==(const Histogram&) const = default;
};

/// The samples of one measure; all series have the same bins.
struct Histograms {
  std::vector<double> edges;  ///< one more than there are bins, ascending; empty: no series has samples
  bool isLogarithmic = false;
  bool hasZeros = false;  ///< whether a series has zeros
  std::vector<Histogram> parts;
  bool operator==(const Histograms&) const = default;
};

/// The histograms at one place of the first axis, or, without `place`, of all places together. Bins have
/// equal widths. If the samples span more than two powers of ten, the bins have equal factors instead.
Histograms histogramsOf(const ExperimentResult& result, std::size_t measure, std::optional<double> place);

}  // namespace spanscope::experiment
