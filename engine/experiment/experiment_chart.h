// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of an experiment, as SVG: lines with their spread, a heat map, or histograms.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_maps.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// What is drawn of one.
struct ExperimentDrawing {
  std::size_t measure = 0;
  ChartKind kind = ChartKind::Lines;
  std::optional<double> place{};  ///< of the first axis, for histograms; nothing: all of them together
};

/// Empty where there is no point.
std::string experimentSvg(const ExperimentResult& result, const ExperimentDrawing& drawing = {});
std::string experimentLinesSvg(const ExperimentResult& result, std::size_t measure);

/// "time to first token, ms"
std::string measureTitle(const Measure& measure);

struct AxisTick {
  double place = 0;  ///< 0 … 1 of the axis
  double value = 0;
};
/// Round numbers on the axis of histograms, few enough to be written beside each other.
std::vector<AxisTick> histogramTicks(const Histograms& histograms);

/// Places of lines and numbers on an axis from `low` to `high`, both included in what it spans: round
/// numbers, or powers of two on a logarithmic one.
std::vector<double> axisTicks(double low, double high, bool isLogarithmic);

}  // namespace spanscope::experiment
