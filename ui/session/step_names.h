// SPDX-License-Identifier: GPL-3.0-or-later
// The names of the steps of a plan. Every view and the canvas use the same names.
#pragma once

#include "ui/session/view_input.h"

#include <QString>

#include <map>
#include <vector>

namespace spanscope::ui {

/// The inputs for the name of a step.
struct NamedStep {
  StepIndex step = 0;
  document::NodeId node = document::kNoNode;
  bool isRoot = false;
};
/// Returns the names of all steps of one plan. A step has the name that the user gave its node. Without such
/// a name, the root step is "generate", and each step of a subquery is "subquery". If several steps have the
/// same name, a number follows: "subquery 2".
std::map<StepIndex, QString> stepNames(const document::Document& document,
                                       const std::vector<NamedStep>& steps);
/// Returns the names of the steps of a run; empty if the run is not in the trace.
std::map<StepIndex, QString> stepNames(const ViewInput& input, const trace::Progress& progress, RunId run);

}  // namespace spanscope::ui
