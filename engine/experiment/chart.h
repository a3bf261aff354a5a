// SPDX-License-Identifier: GPL-3.0-or-later
// Charts as values: their contents and the division of their axes. This file also draws charts as SVG, and
// ui/views/experiments draws them in the window. Open this file to add a kind of chart.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::experiment {

struct ChartTexts {
  std::string title;
  std::string subtitle;
  std::string xLabel;  ///< with its unit
  std::string yLabel;
  bool operator==(const ChartTexts&) const = default;
};

/// A number beside an axis or a scale.
struct ChartTick {
  double at = 0;  ///< a value of the axis; for an axis without values, 0 … 1 of its length
  std::string text;
  bool operator==(const ChartTick&) const = default;
};

/// The summary of the samples of one place.
struct ChartNumber {
  double value = 0;
  double low = 0;  ///< of its spread
  double high = 0;
  std::size_t samples = 0;
  bool operator==(const ChartNumber&) const = default;
};

// ---- lines ---------------------------------------------------------------------------------

struct ChartAxis {
  double low = 0;  ///< its range, which includes all values and ticks; above 0 on a logarithmic axis
  double high = 1;
  bool isLogarithmic = false;
  std::vector<ChartTick> ticks;  ///< ascending; overlapping ones may be left out
  bool operator==(const ChartAxis&) const = default;
};

struct ChartPoint {
  double x = 0;
  ChartNumber number;
  bool operator==(const ChartPoint&) const = default;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;  ///< by ascending x
  bool operator==(const ChartSeries&) const = default;
};

/// One line per series, with the spread of each point. Lines differ in colour, dash and mark.
struct LineChart {
  ChartTexts texts;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
  bool operator==(const LineChart&) const = default;
};

// ---- heat maps -----------------------------------------------------------------------------

struct HeatMapCell {
  ChartNumber number;
  double shade = 0;  ///< 0 … 1 of the scale
  std::string text;  ///< the text in the cell
  bool operator==(const HeatMapCell&) const = default;
};

struct HeatMapPanel {
  std::string title;
  std::vector<std::vector<std::optional<HeatMapCell>>> cells;  ///< [row][column]; nothing: not measured
  bool operator==(const HeatMapPanel&) const = default;
};

/// Grids with the same rows and columns, with a colour and a number in each cell.
struct HeatChart {
  ChartTexts texts;
  std::vector<std::string> rows;     ///< from the top down
  std::vector<std::string> columns;  ///< from the left
  std::vector<HeatMapPanel> panels;
  std::vector<ChartTick> scale;  ///< at the ends of the colours and in their middle
  bool isSpread = false;         ///< whether few columns are widened to the width of the texts above them
  bool operator==(const HeatChart&) const = default;
};

/// Returns a share, 0 … 1, as a cell of whole percent.
HeatMapCell shareCell(double share);
/// Returns the scale of such cells: "0 %", "50 %", "100 %".
std::vector<ChartTick> shareScale();

// ---- histograms ----------------------------------------------------------------------------

struct Histogram {
  std::string series;
  std::vector<std::size_t> counts;  ///< by bin
  std::size_t zeros = 0;            ///< number of samples of 0 or less, which a logarithmic axis cannot show
  std::size_t total = 0;            ///< number of samples, including zeros
  double median = 0;
  bool operator==(const Histogram&) const = default;
};

/// The distribution of samples: bars of the same bins for every series, one histogram below the other.
/// Samples of 0 have a bar of their own before the axis, as the first bar.
struct HistogramChart {
  ChartTexts texts;
  std::vector<double> edges;  ///< one more than bins, ascending; empty: no series has samples
  bool isLogarithmic = false;
  bool hasZeros = false;  ///< some series has samples of 0
  std::vector<Histogram> parts;
  std::vector<ChartTick> ticks;  ///< at 0 … 1 of the axis
  bool operator==(const HistogramChart&) const = default;

  std::size_t bars() const { return edges.empty() ? 0 : edges.size() - 1 + (hasZeros ? 1 : 0); }
  bool isZeroBar(std::size_t bar) const { return hasZeros && bar == 0; }
  /// Returns the index among the bins.
  std::size_t binOf(std::size_t bar) const { return bar - (hasZeros ? 1 : 0); }
  std::size_t countOf(const Histogram& part, std::size_t bar) const {
    return isZeroBar(bar) ? part.zeros : part.counts[binOf(bar)];
  }
  /// Returns the share of the part's samples, 0 … 1.
  double shareOf(const Histogram& part, std::size_t bar) const;
  /// Returns the largest share of any part in one bar.
  double highestShare() const;
};

/// Nothing for an empty chart.
using Chart = std::variant<std::monostate, LineChart, HeatChart, HistogramChart>;

// ---- axes ----------------------------------------------------------------------------------

/// Returns the places of lines and numbers on an axis from `low` to `high`, both included. The places are
/// round numbers, or powers of two on a logarithmic axis.
std::vector<double> axisTicks(double low, double high, bool isLogarithmic);

/// Returns an axis with round numbers from 0. With `wantsLogarithm` and only values above 0, the axis has
/// powers of two.
ChartAxis roundAxis(double low, double high, bool wantsLogarithm);
/// Returns an axis with a number at each of these places.
ChartAxis placesAxis(std::vector<double> places, bool wantsLogarithm);
/// Returns an axis of shares, 0 … 1, in percent.
ChartAxis shareAxis();

/// Returns round numbers between the edges of a histogram, few enough to fit beside each other.
std::vector<ChartTick> histogramTicks(const HistogramChart& chart);

/// Returns three significant digits, usually without an exponent: "88", "0.57", "1177".
std::string shortNumber(double value);

std::string chartSvg(const LineChart& chart);
std::string chartSvg(const HeatChart& chart);
std::string chartSvg(const HistogramChart& chart);
/// Empty for an empty chart.
std::string chartSvg(const Chart& chart);

}  // namespace spanscope::experiment
