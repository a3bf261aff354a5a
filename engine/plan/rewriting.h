// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"

#include <vector>

namespace spanscope::plan {

/// Appends a problem for each unknown rule, and for options that no rule can follow.
void checkRules(const PlanOptions& options, std::vector<Error>& problems);

/// Applies every rule that is on, bottom up, until none matches. Appends what it did to `plan.rules` and
/// `plan.passes`. If the tree would grow beyond the limits, it appends a problem.
void rewrite(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// The same. It also appends a problem for each node that cannot become a step because its rule is off.
void applyRules(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

}  // namespace spanscope::plan
