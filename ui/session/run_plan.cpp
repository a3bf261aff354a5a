// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_plan.h"

#include "engine/plan/explain.h"
#include "engine/query/diagnostic.h"
#include "engine/query/json/json.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {

QString firstProblem(const workbench::PipelineResult& made) {
  const auto isError = [](const query::Diagnostic& problem) { return problem.severity == Severity::Error; };
  const auto first = std::find_if(made.diagnostics.begin(), made.diagnostics.end(), isError);
  if (first == made.diagnostics.end()) return {};
  QString text = QString::fromStdString(first->located({}));
  const auto others = std::count_if(first + 1, made.diagnostics.end(), isError);
  if (others > 0) text += tr(" (and %1 more)").arg(others);
  return text;
}

RunPlan planRun(workbench::PipelineInput input) {
  input.plansWithoutLocality = true;
  RunPlan run{.made = workbench::runPipeline(std::move(input)),
              .plan = std::nullopt,
              .queryJson = {},
              .explain = {},
              .problem = {}};
  workbench::PipelineResult& made = run.made;
  if (!made.isReached()) {
    if (made.end != workbench::PipelineEnd::Stopped) run.problem = firstProblem(made);
  } else if (made.plan->steps.empty()) {
    run.problem = tr("There is nothing to generate: the query has no generate node.");
  } else {
    plan::ExplainOptions explain;
    explain.withoutLocality = made.planWithoutLocality ? &*made.planWithoutLocality : nullptr;
    run.explain = plan::explain(*made.plan, explain);
    run.queryJson = query::writeCanonical(*made.queryAfter(workbench::Stage::Plan));
    run.plan = std::exchange(made.plan, std::nullopt);
  }
  return run;
}

}  // namespace spanscope::ui
