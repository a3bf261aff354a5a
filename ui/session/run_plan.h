// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"

#include <QString>

#include <optional>
#include <string>

namespace spanscope::ui {

struct PlannedRun {
  std::optional<plan::Plan> plan;  ///< nothing where there is a problem
  std::string explain;
  QString problem;  ///< why it cannot be run, in words
};

/// Plans a query that is to be run: with attention locality, what it would cost without stands beside in
/// `explain`. A query without a generate node is a problem too.
PlannedRun planRun(const query::Node& query, plan::PlanOptions options);

}  // namespace spanscope::ui
