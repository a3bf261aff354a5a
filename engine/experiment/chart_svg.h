// SPDX-License-Identifier: GPL-3.0-or-later
// Charts (engine/experiment/chart.h) as SVG, in colours that people who see fewer of them can tell apart too.
#pragma once

#include "engine/experiment/chart.h"

#include <string>

namespace spanscope::experiment {

std::string chartSvg(const LineChart& chart);
std::string chartSvg(const HeatChart& chart);
std::string chartSvg(const HistogramChart& chart);
/// Empty where there is nothing to show.
std::string chartSvg(const Chart& chart);

}  // namespace spanscope::experiment
