// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"

#include <vector>

namespace spanscope::plan {

/// Applies every rule, bottom up, until none matches. Appends what was done to `reports`, the
/// copies of one node counted once, and a problem if the tree would grow beyond the limits.
void applyRules(Draft& draft, const PlanOptions& options, std::vector<RuleReport>& reports,
                std::vector<Error>& problems);

}  // namespace spanscope::plan
