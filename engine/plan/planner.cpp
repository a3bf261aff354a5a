// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/planner.h"

#include "engine/plan/draft.h"
#include "engine/plan/lowering.h"
#include "engine/plan/rewriting.h"

namespace spanscope::plan {

PlanResult makePlan(const query::Node& query, const PlanOptions& options) {
  PlanResult result;
  checkRules(options, result.problems);
  // Only the rule for closures makes closures.
  const OutputForm form = options.outputForm == OutputForm::Reused ? OutputForm::Reused : OutputForm::Anew;
  Draft draft = makeDraft(query, options.temperature, form, options.limits.depth, result.problems);
  if (!result.problems.empty()) return result;
  Plan plan;
  applyRules(draft, options, plan, result.problems);
  if (!result.problems.empty()) return result;
  lower(draft, options, plan, result.problems);
  if (!result.problems.empty()) return result;
  result.plan = std::move(plan);
  return result;
}

}  // namespace spanscope::plan
