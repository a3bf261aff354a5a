// SPDX-License-Identifier: GPL-3.0-or-later
// Charts as values: what they show and how their axes are divided. engine/experiment/chart_svg.h draws them
// into files, ui/views/experiments in the window.
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

/// A number written beside an axis or a scale.
struct ChartTick {
  double at = 0;  ///< a value of the axis; where the axis has no values of its own, 0 … 1 of its length
  std::string text;
  bool operator==(const ChartTick&) const = default;
};

/// What is said of the samples of one place.
struct Figure {
  double value = 0;
  double low = 0;  ///< of its spread
  double high = 0;
  std::size_t samples = 0;
  bool operator==(const Figure&) const = default;
};

// ---- lines ---------------------------------------------------------------------------------

struct ChartAxis {
  double low = 0;  ///< what it spans, all values and ticks included; above 0 on a logarithmic one
  double high = 1;
  bool isLogarithmic = false;
  std::vector<ChartTick> ticks;  ///< ascending; those that would touch another may be left out
  bool operator==(const ChartAxis&) const = default;
};

struct ChartPoint {
  double x = 0;
  Figure figure;
  bool operator==(const ChartPoint&) const = default;
};

struct ChartSeries {
  std::string name;
  std::vector<ChartPoint> points;  ///< by ascending x
  bool operator==(const ChartSeries&) const = default;
};

/// A line a series, told apart by colour, dash and mark, with the spread of each point.
struct LineChart {
  ChartTexts texts;
  ChartAxis x;
  ChartAxis y;
  std::vector<ChartSeries> series;
  bool operator==(const LineChart&) const = default;
};

// ---- heat maps -----------------------------------------------------------------------------

struct HeatMapCell {
  Figure figure;
  double shade = 0;  ///< 0 … 1 of the scale
  std::string text;  ///< what is written in it
  bool operator==(const HeatMapCell&) const = default;
};

struct HeatMapPanel {
  std::string title;
  std::vector<std::vector<std::optional<HeatMapCell>>> cells;  ///< [row][column]; none: not measured
  bool operator==(const HeatMapPanel&) const = default;
};

/// Grids with the same rows and columns, a colour and a number in each cell.
struct HeatChart {
  ChartTexts texts;
  std::vector<std::string> rows;     ///< from the top down
  std::vector<std::string> columns;  ///< from the left
  std::vector<HeatMapPanel> panels;
  std::vector<ChartTick> scale;  ///< at the ends of the colours and in their middle
  bool isSpread = false;         ///< few columns are as wide together as what stands above them
  bool operator==(const HeatChart&) const = default;
};

/// A share, 0 … 1, as a cell of whole percent.
HeatMapCell shareCell(double share);
/// The scale that goes with such cells: "0 %", "50 %", "100 %".
std::vector<ChartTick> shareScale();

// ---- histograms ----------------------------------------------------------------------------

struct Histogram {
  std::string series;
  std::vector<std::size_t> counts;  ///< by bin
  std::size_t zeros = 0;            ///< samples of 0 or less, which a logarithmic axis has no place for
  std::size_t total = 0;            ///< samples, zeros included
  double median = 0;
  bool operator==(const Histogram&) const = default;
};

/// How samples are spread: bars of the same bins for every series, one part below the other. Samples of 0
/// have a bar of their own before the axis where some series has them; it counts as the first.
struct HistogramChart {
  ChartTexts texts;
  std::vector<double> edges;  ///< one more than bins, ascending; empty: no series has samples
  bool isLogarithmic = false;
  bool hasZeros = false;  ///< some series has
  std::vector<Histogram> parts;
  std::vector<ChartTick> ticks;  ///< at 0 … 1 of the axis
  bool operator==(const HistogramChart&) const = default;

  std::size_t bars() const { return edges.empty() ? 0 : edges.size() - 1 + (hasZeros ? 1 : 0); }
  bool isZeroBar(std::size_t bar) const { return hasZeros && bar == 0; }
  /// Among the bins.
  std::size_t binOf(std::size_t bar) const { return bar - (hasZeros ? 1 : 0); }
  std::size_t countOf(const Histogram& part, std::size_t bar) const {
    return isZeroBar(bar) ? part.zeros : part.counts[binOf(bar)];
  }
  /// Of the part's samples, 0 … 1.
  double shareOf(const Histogram& part, std::size_t bar) const;
  /// The largest share of any part in one bar.
  double highestShare() const;
};

/// Nothing where there is nothing to show.
using Chart = std::variant<std::monostate, LineChart, HeatChart, HistogramChart>;

// ---- axes ----------------------------------------------------------------------------------

/// Places of lines and numbers on an axis from `low` to `high`, both included in what it spans: round
/// numbers, or powers of two on a logarithmic one.
std::vector<double> axisTicks(double low, double high, bool isLogarithmic);

/// Round numbers from 0, or powers of two around what is shown where that is wanted and all of it is above 0.
ChartAxis roundAxis(double low, double high, bool wantsLogarithm);
/// The same, with a number at each of these places.
ChartAxis placesAxis(std::vector<double> places, bool wantsLogarithm);
/// Shares, 0 … 1, in percent.
ChartAxis shareAxis();

/// Round numbers between the edges of a histogram, few enough to be written beside each other.
std::vector<ChartTick> histogramTicks(const HistogramChart& chart);

/// Three digits that count, without an exponent where a person would write none: "88", "0.57", "1177".
std::string shortNumber(double value);

}  // namespace spanscope::experiment
