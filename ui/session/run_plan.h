// SPDX-License-Identifier: GPL-3.0-or-later
// Plans queries for runs, and explains why a query cannot run.
#pragma once

#include "engine/plan/plan.h"
#include "engine/workbench/pipeline.h"

#include <QString>

#include <optional>
#include <string>

namespace spanscope::ui {

struct RunPlan {
  workbench::PipelineResult made;
  std::optional<plan::Plan> plan;  ///< nothing if there is a problem or planning was stopped
  std::string queryJson;           ///< canonical
  std::string explain;
  QString problem;  ///< why the query cannot be run, in words; empty: no problem
};

/// Plans a query that is about to be run. If the plan uses attention locality, `explain` also shows the cost
/// without attention locality. A query without a generate node is a problem too.
RunPlan planRun(workbench::PipelineInput input);

/// The first error of a query that cannot be run, and the number of further errors.
QString firstProblem(const workbench::PipelineResult& made);

}  // namespace spanscope::ui
