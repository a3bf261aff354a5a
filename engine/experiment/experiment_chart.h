// SPDX-License-Identifier: GPL-3.0-or-later
// The chart of an experiment: lines with their spread, a heat map, or histograms.
#pragma once

#include "engine/experiment/chart.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_maps.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace spanscope::experiment {

/// What is drawn of one.
struct ExperimentDrawing {
  std::size_t measure = 0;
  ChartKind kind = ChartKind::Lines;
  std::optional<double> place{};  ///< of the first axis, for histograms; nothing: all of them together
};

/// A text of an experiment in the language of who reads the chart; unset: as it stands.
using ChartWords = std::function<std::string(const char*)>;

/// Nothing where there is no point.
Chart experimentChart(const ExperimentResult& result, const ExperimentDrawing& drawing,
                      const ChartWords& words = nullptr);

/// The same as a picture; empty where there is no point.
std::string experimentSvg(const ExperimentResult& result, const ExperimentDrawing& drawing = {});

/// "time to first token, ms"
std::string measureTitle(const Measure& measure, const ChartWords& words = nullptr);

}  // namespace spanscope::experiment
