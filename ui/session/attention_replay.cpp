// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/attention_replay.h"

#include "engine/run/finished_reply.h"
#include "engine/run/session.h"
#include "ui/session/foretold_runs.h"
#include "ui/session/view_input.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <optional>
#include <variant>

namespace spanscope::ui {
namespace {

const trace::RequestState* requestOf(const ViewInput& input, RequestId id) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(id);
  return found == requests.end() ? nullptr : &found->second;
}

std::vector<TokenId> replyOf(const ViewInput& input, RequestId id) {
  std::vector<TokenId> reply;
  const RequestEvents* events = input.trace->request(id);
  if (events == nullptr) return reply;
  for (const std::size_t index : events->of<trace::TokenGenerated>()) {
    if (index >= input.position) break;
    if (const auto* token = std::get_if<trace::TokenGenerated>(&input.trace->event(index).payload))
      reply.push_back(token->token);
  }
  return reply;
}

/// Those beside which it was written.
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
                            .reply = replyOf(input, member)});
  }
  return team;
}

/// Of the run that gave the answer; nullptr if nothing is known of it.
const trace::RunState* runOf(const ViewInput& input, const trace::RequestState& request) {
  const auto& runs = input.state().progress().runs;
  const auto found = runs.find(request.run);
  return found == runs.end() ? nullptr : &found->second;
}

}  // namespace

QString policyObstacle(const std::string& policy) {
  if (policy::findChoice(policy)) return {};
  return tr("This program does not know the reuse policy “%1” of the run: it cannot repeat how the answer "
            "came about.")
      .arg(QString::fromStdString(policy));
}

QString replayObstacle(const ViewInput& input, const ReplayChoice& choice) {
  if (isForetold(*input.trace)) return tr("This run is foretold: nothing of it was computed.");
  switch (input.replay.origin) {
    case TraceOrigin::Unknown:
      return tr("There is no engine here.");
    case TraceOrigin::File:
      return tr("This is a recorded run: only the session that gave an answer can compute it again.");
    case TraceOrigin::Server:
      return tr("A server gave this answer: only the embedded engine can compute what it did again.");
    case TraceOrigin::EndedSession:
      return tr("The session that gave this answer has ended: run the query again.");
    case TraceOrigin::Session:
      break;
  }
  const trace::RequestState* request = requestOf(input, choice.request);
  if (request == nullptr || request->segments.empty()) return tr("There is no answer.");
  if (!request->outcome) return tr("The answer is not finished.");
  if (request->generatedTokens == 0) return tr("There is no answer.");
  const auto tokens = static_cast<std::int64_t>(replyOf(input, choice.request).size());
  if (!request->complete || tokens != request->generatedTokens)
    return tr("Parts of this run are no longer in memory: run the query again.");
  for (const run::Teammates::Member& member : teammatesOf(input, choice.request).members) {
    const trace::RequestState* other = requestOf(input, member.request);
    if (!other->outcome) return tr("An answer that was written beside it is not finished.");
    if (!other->complete || static_cast<std::int64_t>(member.reply.size()) != other->generatedTokens)
      return tr("Parts of this run are no longer in memory: run the query again.");
  }
  const trace::RunState* run = runOf(input, *request);
  if (run == nullptr) return tr("Parts of this run are no longer in memory: run the query again.");
  if (QString problem = policyObstacle(run->policy); !problem.isEmpty()) return problem;
  if (input.replay.running) return tr("Other attention is being computed.");
  if (input.replay.engineIsBusy) return tr("A query is running.");
  return {};
}

run::FinishedReply finishedReply(const ViewInput& input, RequestId id) {
  run::FinishedReply reply;
  reply.request = id;
  const trace::RequestState* request = requestOf(input, id);
  if (request == nullptr) return reply;
  reply.run = request->run;
  reply.node = request->node;
  reply.segments.assign(request->segments.begin(), request->segments.end());
  const trace::RunState* run = runOf(input, *request);
  const std::optional<policy::Choice> policy =
      run == nullptr ? std::nullopt : policy::findChoice(run->policy);
  if (policy) reply.policy = *policy;
  reply.tokens = replyOf(input, id);
  reply.teammates = teammatesOf(input, id);
  return reply;
}

run::AttentionReplayRequest replayRequest(const ViewInput& input, const ReplayChoice& choice) {
  run::AttentionReplayRequest asked{
      .reply = finishedReply(input, choice.request), .layer = choice.layer, .head = choice.head};
  const run::FinishedReply& reply = asked.reply;
  std::uint64_t keys = reply.segments.size() + reply.tokens.size();
  for (const trace::SegmentInfo& segment : reply.segments) keys += segment.tokens.size();
  const auto heads =
      choice.head < 0 ? static_cast<std::uint64_t>(std::max(1, input.state().progress().heads)) : 1;
  asked.singleKeys = reply.tokens.size() * keys * heads * sizeof(float) <= run::kReplayBytes;
  return asked;
}

QString layerAndHead(std::int32_t layer, std::int32_t head) {
  return head < 0 ? tr("layer %1, all heads").arg(layer) : tr("layer %1, head %2").arg(layer).arg(head);
}

}  // namespace spanscope::ui
