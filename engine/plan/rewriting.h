// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"

#include <vector>

namespace spanscope::plan {

/// Appends a problem for each rule that does not exist and for options that no rule can follow.
void checkRules(const PlanOptions& options, std::vector<Error>& problems);

/// Applies every rule that is on, bottom up, until none matches. Appends what was done to `plan.rules` and
/// `plan.passes`, and a problem if the tree would grow beyond the limits.
void rewrite(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// The same, and what is left that no step can be made of because its rule is off is a problem too.
void applyRules(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

}  // namespace spanscope::plan
