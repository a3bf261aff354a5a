// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/answer_jobs.h"

#include "engine/experiment/fidelity.h"
#include "engine/jobs/attention_replay.h"
#include "engine/jobs/fidelity.h"
#include "ui/session/run_history.h"
#include "ui/session/run_list.h"
#include "ui/session/view_input.h"
#include "ui/words/tr.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

const trace::RequestState* requestOf(const ViewInput& input, RequestId id) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(id);
  return found == requests.end() ? nullptr : &found->second;
}

std::vector<TokenId> answerOf(const ViewInput& input, RequestId id) {
  std::vector<TokenId> answer;
  const RequestEvents* events = input.trace->request(id);
  if (events == nullptr) return answer;
  for (const std::size_t index : events->of<trace::TokenGenerated>()) {
    if (index >= input.position) break;
    if (const auto* token = std::get_if<trace::TokenGenerated>(&input.trace->event(index).payload))
      answer.push_back(token->token);
  }
  return answer;
}

/// The requests of the answer's group, with their prompts and answers so far. Answers of a group attend to
/// each other (trace::TeamFormed). Empty: the answer has no group.
run::Teammates teammatesOf(const ViewInput& input, RequestId id) {
  run::Teammates team;
  const RequestEvents* events = input.trace->request(id);
  if (events == nullptr || events->of<trace::TeamFormed>().empty()) return team;
  const auto* formed =
      std::get_if<trace::TeamFormed>(&input.trace->event(events->of<trace::TeamFormed>().back()).payload);
  if (formed == nullptr) return team;
  for (const RequestId member : formed->requests) {
    const trace::RequestState* request = requestOf(input, member);
    if (request == nullptr) continue;
    team.members.push_back({.request = member,
                            .segments = {request->segments.begin(), request->segments.end()},
                            .answer = answerOf(input, member)});
  }
  return team;
}

/// The run that gave the answer; nullptr: the trace does not have the run.
const trace::RunState* runOf(const ViewInput& input, const trace::RequestState& request) {
  const auto& runs = input.state().progress().runs;
  const auto found = runs.find(request.run);
  return found == runs.end() ? nullptr : &found->second;
}

bool isInTeam(const ViewInput& input, RequestId id) {
  const RequestEvents* events = input.trace->request(id);
  return events != nullptr && !events->of<trace::TeamFormed>().empty();
}

bool measures(const std::string& kind, const trace::PackedValue& arguments, RequestId request) {
  if (kind != jobs::FidelityJob::kId) return false;
  const auto choice = trace::unpack<jobs::FidelityChoice>(arguments);
  return choice &&
         std::find(choice->requests.begin(), choice->requests.end(), request) != choice->requests.end();
}

/// The last measurement in the run's events. If these events are gone, the measurement in the run's record.
template <class Measured>
const Measured* lastMeasured(const ListedRun& run, RequestId request,
                             std::map<RequestId, std::shared_ptr<const Measured>> RunRecord::*recorded) {
  if (run.trace) {
    const RequestEvents* events = run.trace->request(request);
    if (events != nullptr && !events->of<Measured>().empty())
      return std::get_if<Measured>(&run.trace->event(events->of<Measured>().back()).payload);
  }
  if (run.record == nullptr) return nullptr;
  const auto& all = run.record->*recorded;
  const auto found = all.find(request);
  return found == all.end() ? nullptr : found->second.get();
}

}  // namespace

QString jobText(const char* text) {
  // Jobs mark their texts for translation in this context.
  return *text == '\0' ? QString() : QCoreApplication::translate("Jobs", text);
}

QString policyReason(const std::string& policy) {
  if (policy::findChoice(policy)) return {};
  return tr(/*id:policy-not-known*/
            "This program does not know the reuse policy “%1” of the run, so it cannot replay the answer.")
      .arg(QString::fromStdString(policy));
}

QString answerReason(const ViewInput& input, RequestId id) {
  if (isPredicted(*input.trace)) return tr("This run is predicted. Nothing was computed.");
  switch (input.replay.origin) {
    case TraceOrigin::Unknown:
      return tr("There is no engine.");
    case TraceOrigin::File:
      return tr(/*id:answer-of-a-recorded-run*/
                "This is a recorded run. Only the session that gave an answer can recompute the answer.");
    case TraceOrigin::Server:
      return tr("A server gave this answer. Only answers of the embedded engine can be recomputed.");
    case TraceOrigin::EndedSession:
      return tr(
          /*id:answer-session-ended*/ "The session of this answer has ended. Run the query again.");
    case TraceOrigin::Session:
      break;
  }
  const trace::RequestState* request = requestOf(input, id);
  if (request == nullptr || request->segments.empty()) return tr("There is no answer.");
  if (!request->outcome) return tr(/*id:answer-not-finished*/ "The answer is not finished.");
  if (request->generatedTokens == 0) return tr("There is no answer.");
  const auto tokens = static_cast<std::int64_t>(answerOf(input, id).size());
  if (!request->complete || tokens != request->generatedTokens)
    return tr("Parts of this run are no longer in memory. Run the query again.");
  for (const run::Teammates::Member& member : teammatesOf(input, id).members) {
    const trace::RequestState* other = requestOf(input, member.request);
    if (!other->outcome) return tr("Another answer of the same group is still running.");
    if (!other->complete || static_cast<std::int64_t>(member.answer.size()) != other->generatedTokens)
      return tr("Parts of this run are no longer in memory. Run the query again.");
  }
  const trace::RunState* run = runOf(input, *request);
  if (run == nullptr) return tr("Parts of this run are no longer in memory. Run the query again.");
  if (QString problem = policyReason(run->policy); !problem.isEmpty()) return problem;
  const std::optional<RunningJob>& running = input.replay.running;
  if (running && running->call.kind == jobs::AttentionReplayJob::kId)
    return tr(/*id:other-attention-being*/ "Another job is computing attention.");
  if (input.replay.engineIsBusy) return tr(/*id:query-running*/ "A query is running.");
  return {};
}

run::FinishedAnswer finishedAnswer(const ViewInput& input, RequestId id) {
  run::FinishedAnswer answer;
  answer.request = id;
  const trace::RequestState* request = requestOf(input, id);
  if (request == nullptr) return answer;
  answer.run = request->run;
  answer.node = request->node;
  answer.segments.assign(request->segments.begin(), request->segments.end());
  const trace::RunState* run = runOf(input, *request);
  const std::optional<policy::Choice> policy =
      run == nullptr ? std::nullopt : policy::findChoice(run->policy);
  if (policy) answer.policy = *policy;
  answer.tokens = answerOf(input, id);
  answer.teammates = teammatesOf(input, id);
  return answer;
}

QString jobReason(const ViewInput& input, const jobs::JobCall& call) {
  const jobs::JobRow* row = jobs::findJob(call.kind);
  if (row == nullptr)
    return tr("This program does not know the job “%1”.").arg(QString::fromStdString(call.kind));
  std::vector<jobs::AnswerFacts> answers;
  for (const RequestId request : row->answers(call.arguments)) {
    if (QString problem = answerReason(input, request); !problem.isEmpty()) return problem;
    const trace::RequestState& state = *requestOf(input, request);
    answers.push_back({.segments = state.segments,
                       .policy = policy::findChoice(runOf(input, state)->policy).value_or(policy::Choice()),
                       .isInTeam = isInTeam(input, request)});
  }
  const char* reason = row->unavailableReason(call.arguments, answers);
  return reason == nullptr ? QString() : jobText(reason);
}

std::shared_ptr<jobs::RecordedJob> jobOf(const ViewInput& input, const jobs::JobCall& call) {
  const jobs::JobRow* row = jobs::findJob(call.kind);
  jobs::JobInput given;
  for (const RequestId request : row->answers(call.arguments))
    given.answers.push_back(finishedAnswer(input, request));
  return row->make(call.arguments, std::move(given));
}

bool isRunning(const ViewInput& input, const jobs::JobCall& call) {
  return input.replay.running && input.replay.running->call == call;
}

QString jobProblem(const ViewInput& input, const jobs::JobCall& call) {
  const trace::JobEnded* ended = input.trace->lastJob(call.kind, call.arguments, input.replay.results);
  return ended == nullptr ? QString() : jobText(ended->problem.c_str());
}

QString layerAndHead(std::int32_t layer, std::int32_t head) {
  return head < 0 ? tr("layer %1, all heads").arg(layer) : tr("layer %1, head %2").arg(layer).arg(head);
}

QString policyOf(const ViewInput& input, RequestId request) {
  const trace::Progress& progress = input.state().progress();
  const auto found = progress.requests.find(request);
  if (found == progress.requests.end()) return {};
  const auto run = progress.runs.find(found->second.run);
  return run == progress.runs.end() ? QString() : QString::fromStdString(run->second.policy);
}

std::vector<RequestId> otherPolicies(const ViewInput& input, RequestId request) {
  const trace::Progress& progress = input.state().progress();
  const auto own = progress.requests.find(request);
  if (own == progress.requests.end()) return {};
  const std::vector<TokenId> tokens =
      experiment::visibleTokens({own->second.segments.begin(), own->second.segments.end()});
  std::map<QString, RequestId> newest;
  for (const auto& [id, other] : progress.requests) {
    if (id == request || other.segments.empty()) continue;
    const QString policy = policyOf(input, id);
    // The answer of a group member cannot be replaced by another answer.
    if (isInTeam(input, id) || policy == policyOf(input, request)) continue;
    if (experiment::visibleTokens({other.segments.begin(), other.segments.end()}) == tokens)
      newest[policy] = id;
  }
  std::vector<RequestId> others;
  for (const auto& [policy, id] : newest) others.push_back(id);
  return others;
}

std::vector<RequestId> measurableRequests(const ViewInput& input, RunId run) {
  std::vector<RequestId> requests;
  const trace::Progress& progress = input.state().progress();
  const auto found = progress.runs.find(run);
  if (found == progress.runs.end()) return requests;
  for (const RequestId request : found->second.requests) {
    if (answerReason(input, request).isEmpty()) requests.push_back(request);
  }
  return requests;
}

std::optional<double> fidelityShare(const ViewInput& input, RequestId request) {
  const std::optional<RunningJob>& running = input.replay.running;
  if (!running || !measures(running->call.kind, running->call.arguments, request)) return std::nullopt;
  return running->share;
}

QString fidelityProblem(const ListedRun& run, RequestId request) {
  if (!run.trace) return {};
  const std::vector<std::size_t>& all = run.trace->indicesOf<trace::JobEnded>();
  for (auto index = all.rbegin(); index != all.rend(); ++index) {
    const auto& ended = std::get<trace::JobEnded>(run.trace->event(*index).payload);
    if (measures(ended.kind, ended.arguments, request)) return jobText(ended.problem.c_str());
  }
  return {};
}

const trace::FidelityMeasured* fidelityOf(const ListedRun& run, RequestId request) {
  return lastMeasured<trace::FidelityMeasured>(run, request, &RunRecord::fidelity);
}

const trace::ArithmeticMeasured* arithmeticOf(const ListedRun& run, RequestId request) {
  return lastMeasured<trace::ArithmeticMeasured>(run, request, &RunRecord::arithmetic);
}

}  // namespace spanscope::ui
