// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_plan.h"

#include "engine/base/error.h"
#include "engine/plan/explain.h"
#include "ui/words/tr.h"

#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {

QString firstOf(const std::vector<Error>& problems) {
  QString text = QString::fromStdString(problems.front().message());
  if (problems.size() > 1) text += tr(" (and %1 more)").arg(problems.size() - 1);
  return text;
}

std::string explainOf(const plan::Plan& plan, const query::Node& query, plan::PlanOptions options) {
  if (!options.locality.isOn()) return plan::explain(plan);
  options.locality = {};
  const plan::PlanResult without = plan::makePlan(query, options);
  plan::ExplainOptions explain;
  explain.withoutLocality = without.plan ? &*without.plan : nullptr;
  return plan::explain(plan, explain);
}

}  // namespace

PlannedRun planRun(const query::Node& query, plan::PlanOptions options) {
  PlannedRun run;
  plan::PlanResult planned = plan::makePlan(query, options);
  if (!planned.plan) {
    run.problem = firstOf(planned.problems);
  } else if (planned.plan->steps.empty()) {
    run.problem = tr("There is nothing to generate: the query has no generate node.");
  } else {
    run.explain = explainOf(*planned.plan, query, std::move(options));
    run.plan = std::move(*planned.plan);
  }
  return run;
}

}  // namespace spanscope::ui
