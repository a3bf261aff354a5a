// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"

namespace spanscope::plan {

/// Turns a draft that no rule matches any more into steps, results and printed texts; `plan.rules` does not
/// change. If the prompts would grow beyond the limits, it appends a problem; then do not use the plan.
void lower(const Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

}  // namespace spanscope::plan
