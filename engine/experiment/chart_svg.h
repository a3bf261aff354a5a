// SPDX-License-Identifier: GPL-3.0-or-later
// Draws charts (engine/experiment/chart.h) as SVG, in colours that are safe for colour-blind readers. Open
// this file to change the pictures in files.
#pragma once

#include "engine/experiment/chart.h"

#include <string>

namespace spanscope::experiment {

std::string chartSvg(const LineChart& chart);
std::string chartSvg(const HeatChart& chart);
std::string chartSvg(const HistogramChart& chart);
/// Empty for an empty chart.
std::string chartSvg(const Chart& chart);

}  // namespace spanscope::experiment
