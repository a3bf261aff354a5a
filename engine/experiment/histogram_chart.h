// SPDX-License-Identifier: GPL-3.0-or-later
// How samples are spread, as SVG.
#pragma once

#include "engine/experiment/charts.h"

#include <string>
#include <vector>

namespace spanscope::experiment {

/// A bar a bin, 0 … 1 of the highest of all parts.
struct HistogramPart {
  std::string title;
  std::string subtitle;  ///< "80 samples, median 0.12"
  std::vector<double> bars;
};

struct AxisMark {
  double place = 0;  ///< 0 … 1 of the axis
  std::string text;
};

/// Bars of the same bins below each other.
struct HistogramChart {
  ChartTexts texts;
  std::vector<HistogramPart> parts;
  std::vector<AxisMark> marks;  ///< of the axis below
  std::string most;             ///< what the highest bar stands for: "23 %"
  bool hasZeros = false;        ///< the first bar stands for 0, apart from the others and before the axis
};
std::string histogramChartSvg(const HistogramChart& chart);

}  // namespace spanscope::experiment
