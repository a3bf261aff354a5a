// SPDX-License-Identifier: GPL-3.0-or-later
// Queries that are to be run, planned; and what is said where they cannot be.
#pragma once

#include "engine/plan/plan.h"
#include "engine/workbench/pipeline.h"

#include <QString>

#include <optional>
#include <string>

namespace spanscope::ui {

struct RunPlan {
  workbench::PipelineResult made;
  std::optional<plan::Plan> plan;  ///< nothing where there is a problem, or it was stopped
  std::string queryJson;           ///< canonical
  std::string explain;
  QString problem;  ///< why it cannot be run, in words
};

/// Plans a query that is to be run: with attention locality, what it would cost without stands beside in
/// `explain`. A query without a generate node is a problem too.
RunPlan planRun(workbench::PipelineInput input);

/// The first error of a query that cannot be run, and how many there are.
QString firstProblem(const workbench::PipelineResult& made);

}  // namespace spanscope::ui
