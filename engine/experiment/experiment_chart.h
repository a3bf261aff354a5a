// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of an experiment, as SVG: a line a series, medians with their spread.
#pragma once

#include "engine/experiment/experiment.h"

#include <cstddef>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Of one of its measures. Empty where there is no point.
std::string experimentSvg(const ExperimentResult& result, std::size_t measure = 0);

/// Places of lines and numbers on an axis from `low` to `high`, both included in what it spans: round
/// numbers, or powers of two on a logarithmic one.
std::vector<double> axisTicks(double low, double high, bool isLogarithmic);

}  // namespace spanscope::experiment
