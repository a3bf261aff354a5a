// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/plan/plan_model.h"

#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/segment_names.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <map>

namespace spanscope::ui {
namespace {

StepState stateOf(const trace::RequestState& request) {
  if (request.outcome) {
    switch (*request.outcome) {
      case trace::StepOutcome::EndToken:
      case trace::StepOutcome::TokenLimit:
      case trace::StepOutcome::ContextLimit:
        return StepState::Finished;
      case trace::StepOutcome::Stopped:
        return StepState::Stopped;
      case trace::StepOutcome::Failed:
        return StepState::Failed;
    }
  }
  if (request.generatedTokens > 0) return StepState::Decoding;
  return request.phase == trace::RequestPhase::Running ? StepState::Computing : StepState::Waiting;
}

}  // namespace

PlanModel planModel(const ViewInput& input) {
  PlanModel model;
  const trace::Progress& progress = input.state().progress();
  auto shown = progress.runs.end();
  for (auto run = progress.runs.begin(); run != progress.runs.end(); ++run) {
    if (run->second.plan->steps.empty() && run->second.plan->explain.empty()) continue;
    if (isOfOther(input, run->first)) continue;
    // Takes the document's newest run, or the newest of a trace from elsewhere.
    const bool isOwn = input.paths.contains(run->first);
    if (shown == progress.runs.end() || isOwn || !input.paths.contains(shown->first)) shown = run;
  }
  if (input.selection.request) {
    const auto request = progress.requests.find(*input.selection.request);
    if (request != progress.requests.end()) {
      const auto run = progress.runs.find(request->second.run);
      if (run != progress.runs.end() && !run->second.plan->steps.empty()) shown = run;
    }
  }
  if (shown == progress.runs.end()) return model;

  const auto& [id, run] = *shown;
  StepNames names(input, progress);
  std::map<StepIndex, RequestId> byStep;
  for (const RequestId requestId : run.requests) {
    const auto found = progress.requests.find(requestId);
    if (found != progress.requests.end()) byStep[found->second.step] = requestId;
  }
  model.run = id;
  model.policy = QString::fromStdString(run.policy);
  model.explain = QString::fromStdString(run.plan->explain);
  for (const trace::PlannedStep& planned : run.plan->steps) {
    PlanStep step{.step = planned.step,
                  .node = planned.node,
                  .name = names.of(id, planned.step),
                  .ply = planned.ply,
                  .needs = planned.needs};
    if (const auto found = byStep.find(planned.step); found != byStep.end()) {
      const trace::RequestState& request = progress.requests.at(found->second);
      step.request = found->second;
      step.state = stateOf(request);
      const TokenAccount prompt = RequestAccount(input, found->second).prompt();
      step.promptTokens = prompt.total();
      step.cachedTokens = prompt.cached();
      step.generatedTokens = request.generatedTokens;
    }
    if (step.request == 0 && run.outcome) step.state = StepState::Stopped;
    model.steps.push_back(std::move(step));
  }
  return model;
}

QString stepStateText(StepState state) {
  switch (state) {
    case StepState::Planned:
      return tr("planned");
    case StepState::Waiting:
      return tr("waiting");
    case StepState::Computing:
      return tr("computing");
    case StepState::Decoding:
      return tr("decoding");
    case StepState::Finished:
      return tr("finished");
    case StepState::Stopped:
      return tr("stopped");
    case StepState::Failed:
      return tr("failed");
  }
  return {};
}

QString needsText(const std::vector<StepIndex>& needs) {
  if (needs.empty()) return tr("nothing");
  QStringList numbers;
  for (const StepIndex need : needs) numbers.push_back(QString::number(need));
  return numbers.join(QStringLiteral(", "));
}

QString planCsv(const PlanModel& model) {
  QString text = csvLine({tr("step"), tr("name"), tr("node"), tr("ply"), tr("needs"), tr("state"),
                          metricHeading("prompt-tokens"), metricHeading("cached-tokens"),
                          metricHeading("generated-tokens")});
  for (const PlanStep& step : model.steps) {
    text += csvLine({QString::number(step.step), step.name, QString::fromStdString(step.node),
                     QString::number(step.ply), needsText(step.needs), stepStateText(step.state),
                     QString::number(step.promptTokens), QString::number(step.cachedTokens),
                     QString::number(step.generatedTokens)});
  }
  return text;
}

QString passesCsv(const plan::Plan& plan) {
  QString text = csvLine(
      {tr("pass"), tr("rule"), tr("keeps the meaning"), tr("node"), tr("before"), tr("after"), tr("why")});
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const plan::PassReport& pass = plan.passes[i];
    for (std::size_t change = 0; change < pass.changeCount; ++change) {
      const plan::RuleReport& report = plan.rules[pass.firstChange + change];
      text += csvLine({QString::number(i + 1), QString::fromStdString(pass.rule),
                       pass.keepsMeaning ? tr("yes") : tr("no"), QString::fromStdString(report.node),
                       QString::fromStdString(report.before), QString::fromStdString(report.after),
                       QString::fromStdString(pass.reason)});
    }
  }
  return text;
}

}  // namespace spanscope::ui
