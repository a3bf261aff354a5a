// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment found, ready to be drawn as a heat map or as histograms: the same cells and bars in the
// window and in files.
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
  Lines,       ///< a line a series, medians with their spread
  HeatMap,     ///< a cell a place
  Histograms,  ///< how the samples of each series are spread, one below the other
};
/// "lines", "heat", "histogram": of the option.
const char* chartKindName(ChartKind kind);
std::optional<ChartKind> chartKindOf(std::string_view name);

/// The kinds in which an experiment can be drawn, the usual one first.
std::vector<ChartKind> chartKindsOf(const Experiment& experiment);

/// Three digits that count, without an exponent where a person would write none: "88", "0.57", "1177".
std::string shortNumber(double value);

struct HeatMapCell {
  Figure figure{};
  double shade = 0;  ///< 0 … 1 from the least to the most of the map
  bool operator==(const HeatMapCell&) const = default;
};

struct HeatMapPanel {
  std::string title;  ///< of the series; empty where the rows are the series
  std::vector<std::vector<std::optional<HeatMapCell>>> cells;  ///< [row][column]
  bool operator==(const HeatMapPanel&) const = default;
};

/// With a second axis a panel a series, whose rows are that axis; without, one panel whose rows are the
/// series. Columns are the first axis.
struct HeatMap {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<HeatMapPanel> panels;
  double low = 0;  ///< what the first colour of the scale stands for
  double high = 1;
  bool isLogarithmic = false;
  bool operator==(const HeatMap&) const = default;

  /// The value at a share of the scale.
  double at(double share) const;
};

/// Of one measure. Empty where there is no point.
HeatMap heatMapOf(const ExperimentResult& result, std::size_t measure);

struct Histogram {
  std::string series;
  std::vector<std::size_t> counts;  ///< by bin
  std::size_t zeros = 0;            ///< samples of 0 or less, which a logarithmic axis has no place for
  std::size_t total = 0;            ///< samples, zeros included
  double median = 0;
  bool operator==(const Histogram&) const = default;
};

/// The samples of one measure, in the same bins for every series.
struct Histograms {
  std::vector<double> edges;  ///< one more than bins, ascending; empty: no series has samples
  bool isLogarithmic = false;
  bool hasZeros = false;  ///< some series has
  std::vector<Histogram> parts;
  bool operator==(const Histograms&) const = default;
};

/// At one place of the first axis, or with none given at all of them together. Bins are of equal width, or of
/// equal factor where the samples reach over more than two powers of ten.
Histograms histogramsOf(const ExperimentResult& result, std::size_t measure, std::optional<double> place);

}  // namespace spanscope::experiment
