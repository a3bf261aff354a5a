// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/output/output_model.h"

#include "engine/policy/policies.h"
#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/views/common/request_names.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>

namespace spanscope::ui {
namespace {

AnswerState stateOf(const trace::RequestState& request, const trace::RunState& run) {
  if (request.outcome) {
    switch (*request.outcome) {
      case trace::StepOutcome::EndToken:
      case trace::StepOutcome::TokenLimit:
      case trace::StepOutcome::ContextLimit:
        return AnswerState::Finished;
      case trace::StepOutcome::Stopped:
        return AnswerState::Stopped;
      case trace::StepOutcome::Failed:
        return AnswerState::Failed;
    }
  }
  if (run.outcome == trace::RunOutcome::Stopped) return AnswerState::Stopped;
  if (run.outcome == trace::RunOutcome::Failed) return AnswerState::Failed;
  if (request.generatedTokens > 0) return AnswerState::Streaming;
  return request.phase == trace::RequestPhase::Running ? AnswerState::Computing : AnswerState::Waiting;
}

/// Error messages of a run up to the position: what the engine said when something failed. Of one request, or
/// (0) those that name none.
QString errorsOf(const ViewInput& input, RunId run, RequestId request) {
  QStringList lines;
  for (const std::size_t index : input.trace->messages()) {
    if (index >= input.position) break;
    const trace::Event& event = input.trace->event(index);
    const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
    if (message == nullptr || message->severity != Severity::Error) continue;
    if (event.run == run && event.request == request) lines.push_back(QString::fromStdString(message->text));
  }
  return lines.join(QLatin1Char('\n'));
}

/// The answer of the same step, from the nearest earlier run of the same query node.
RunId sameAnswer(const trace::Progress& progress, const trace::RequestState& request) {
  if (!request.outcome || request.text.empty()) return 0;
  auto run = progress.runs.find(request.run);
  while (run != progress.runs.begin() && run != progress.runs.end()) {
    --run;
    for (const RequestId id : run->second.requests) {
      const auto other = progress.requests.find(id);
      if (other == progress.requests.end() || !other->second.outcome) continue;
      if (other->second.node == request.node && other->second.copy == request.copy &&
          other->second.text == request.text) {
        return run->first;
      }
    }
  }
  return 0;
}

}  // namespace

OutputModel outputModel(const ViewInput& input, std::size_t most) {
  OutputModel model;
  const trace::Progress& progress = input.state().progress();
  StepNames names(input, progress);
  for (auto entry = progress.runs.rbegin(); entry != progress.runs.rend(); ++entry) {
    const auto& [id, run] = *entry;
    const policy::Policy* policy = policy::findPolicy(run.policy);
    Answer blank;
    blank.run = id;
    blank.policy = QString::fromStdString(run.policy);
    if (policy != nullptr) blank.exactness = QString::fromUtf8(policy->exactness);
    const bool runProblem = run.outcome == trace::RunOutcome::Failed;
    const bool room = model.answers.size() < most;
    // What failed a run before or beside its steps.
    const QString problem = runProblem && room ? errorsOf(input, id, 0) : QString();
    bool told = false;
    for (auto requestId = run.requests.rbegin(); requestId != run.requests.rend(); ++requestId) {
      const auto found = progress.requests.find(*requestId);
      if (found == progress.requests.end()) continue;
      if (model.answers.size() >= most) {
        ++model.left;
        continue;
      }
      const trace::RequestState& request = found->second;
      Answer answer = blank;
      answer.request = *requestId;
      answer.node = request.node;
      answer.name = names.of(request);
      answer.state = stateOf(request, run);
      answer.text = QString::fromStdString(request.text);
      answer.outcome = request.outcome;
      answer.generatedTokens = request.generatedTokens;
      answer.promptTokens = request.promptTokens;
      answer.cachedTokens = request.cachedTokens;
      if (request.metrics && request.metrics->generatedTokens > 0) {
        answer.timeToFirstToken = request.metrics->timeToFirstToken;
      }
      if (answer.state == AnswerState::Failed) answer.problem = errorsOf(input, id, *requestId);
      if (answer.state == AnswerState::Waiting) answer.problem = QString::fromStdString(request.waitReason);
      answer.sameAs = sameAnswer(progress, request);
      told |= !answer.problem.isEmpty() && answer.state == AnswerState::Failed;
      model.answers.push_back(std::move(answer));
    }
    const bool silent = run.requests.empty() && run.outcome.has_value();
    if (!(runProblem && (!told || !problem.isEmpty())) && !silent) continue;
    if (!room) {
      ++model.left;
      continue;
    }
    blank.name = tr("run");
    blank.state = runProblem                                  ? AnswerState::Failed
                  : run.outcome == trace::RunOutcome::Stopped ? AnswerState::Stopped
                                                              : AnswerState::Finished;
    blank.text = QString::fromStdString(run.answer);
    blank.problem = problem;
    model.answers.push_back(std::move(blank));
  }
  return model;
}

QString answerFacts(const Answer& answer) {
  QStringList facts;
  if (answer.timeToFirstToken) facts.push_back(tr("TTFT %1").arg(durationText(*answer.timeToFirstToken)));
  if (answer.generatedTokens > 0) {
    facts.push_back(answer.generatedTokens == 1 ? tr("1 token")
                                                : tr("%1 tokens").arg(answer.generatedTokens));
  }
  if (answer.promptTokens > 0) {
    facts.push_back(tr("%1 of %2 prompt tokens cached (%3)")
                        .arg(answer.cachedTokens)
                        .arg(answer.promptTokens)
                        .arg(shareText(answer.cachedTokens, answer.promptTokens)));
  }
  if (answer.outcome == trace::StepOutcome::TokenLimit) facts.push_back(tr("ended by the token limit"));
  if (answer.outcome == trace::StepOutcome::ContextLimit) {
    facts.push_back(tr("ended where the model's context ends"));
  }
  return facts.join(tr(" · "));
}

QString outputCsv(const OutputModel& model) {
  QString text = csvLine({tr("run"), tr("policy"), tr("request"), tr("step"), tr("text"), tr("problem"),
                          tr("time to first token ms"), tr("generated tokens"), tr("prompt tokens"),
                          tr("cached tokens"), tr("same answer as run")});
  for (const Answer& answer : model.answers) {
    text += csvLine({QString::number(answer.run), answer.policy,
                     answer.request == 0 ? QString() : QString::number(answer.request), answer.name,
                     answer.text, answer.problem,
                     answer.timeToFirstToken ? csvNumber(*answer.timeToFirstToken * 1000) : QString(),
                     QString::number(answer.generatedTokens), QString::number(answer.promptTokens),
                     QString::number(answer.cachedTokens),
                     answer.sameAs == 0 ? QString() : QString::number(answer.sameAs)});
  }
  return text;
}

}  // namespace spanscope::ui
