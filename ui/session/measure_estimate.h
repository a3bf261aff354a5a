// SPDX-License-Identifier: GPL-3.0-or-later
// How long a benchmark or a comparison of policies would take that a person has not started yet.
#pragma once

#include "ui/session/benchmark.h"
#include "ui/session/view_input.h"

#include <QString>

#include <optional>

namespace spanscope::ui {

/// A sentence; empty where there is nothing to say yet.
QString benchmarkEstimate(const ViewInput& input, const BenchmarkRequest& request);
/// The same of the document's own policy and those that are wanted beside it.
QString comparisonEstimate(const ViewInput& input);

/// "about 40 s left: Benchmark: turn 2 of 7"; `doing` alone where the rest is not known.
QString withTimeLeft(const std::optional<double>& secondsLeft, const QString& doing);

}  // namespace spanscope::ui
