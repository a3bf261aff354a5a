// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of benchmarks, as SVG: series told apart by colour, dash and mark, colours that people who see
// fewer of them can tell apart too.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::experiment {

struct ChartTexts {
  std::string title;
  std::string subtitle;
  std::string xLabel;
  std::string yLabel;
};

/// One point of a series; y and its interval are shares, 0 … 1.
struct SharePoint {
  double x = 0;
  double y = 0;
  double low = 0;
  double high = 0;
};

struct ShareSeries {
  std::string name;
  std::vector<SharePoint> points;  ///< by ascending x
};

/// Shares over a quantity: one line a series with the interval of each point, from 0 to 100 %.
struct ShareChart {
  ChartTexts texts;
  std::vector<ShareSeries> series;
};
std::string shareChartSvg(const ShareChart& chart);

/// A grid of shares, 0 … 1; none: there is no value.
struct HeatPanel {
  std::string title;
  std::vector<std::vector<std::optional<double>>> cells;  ///< [row][column]
};

/// Grids side by side with the same rows and columns, a colour and a number in each cell.
struct HeatChart {
  ChartTexts texts;
  std::vector<std::string> rowNames;     ///< from the top down
  std::vector<std::string> columnNames;  ///< from the left
  std::vector<HeatPanel> panels;
  /// What is written in a cell of a share, and beside the scale at its ends and in its middle; without, both
  /// are percent.
  std::function<std::string(double share)> text{};
};
std::string heatChartSvg(const HeatChart& chart);

}  // namespace spanscope::experiment
