// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/run_record.h"

#include "engine/run/run_result.h"

#include <algorithm>
#include <set>
#include <utility>

namespace spanscope::test {

std::uint64_t WatchingSink::send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) {
  trace::Event event;
  event.sequence = ++m_sequence;
  event.run = run;
  event.request = request;
  event.node = node;
  event.payload = std::move(payload);
  if (!m_error) m_error = m_replay.apply(event);
  if (std::holds_alternative<trace::BatchComputed>(event.payload) && m_passesLeft > 0 && --m_passesLeft == 0)
    m_stop.request_stop();
  m_events.push_back(std::move(event));
  return m_sequence;
}

void WatchingSink::beginRun(std::int32_t stopAfter) {
  m_events.clear();
  m_passesLeft = stopAfter;
  m_stop = {};
}

RunRecord::RunRecord(run::RunResult runResult, const std::vector<trace::Event>& events)
    : result(std::move(runResult)) {
  std::set<RequestId> gaveWay;
  for (const trace::Event& event : events) {
    if (const auto* logged = std::get_if<trace::MessageLogged>(&event.payload))
      isTimed = isTimed || logged->text.find("nothing more is loaded") != std::string::npos;
    if (const auto* team = std::get_if<trace::TeamFormed>(&event.payload)) teams.push_back(team->requests);
    if (event.request == 0) continue;
    ReportedReply& answer = answers[event.request];
    if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload)) {
      answer.prompt = table->segments;
    } else if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload)) {
      answer.isInOrder = answer.isInOrder && token->index == static_cast<std::int32_t>(answer.tokens.size());
      answer.tokens.push_back(token->token);
      answer.probabilities.push_back(token->probability);
      answer.text += token->text;
    } else if (const auto* looked = std::get_if<trace::SegmentAttention>(&event.payload)) {
      if (looked->index >= 0) answer.looked[looked->index] = *looked;
    } else if (const auto* others = std::get_if<trace::TeammateAttention>(&event.payload)) {
      answer.onTeammates[others->index] = others->mass;
    } else if (const auto* mass = std::get_if<trace::AttentionMass>(&event.payload)) {
      if (mass->row >= 0) answer.rows[{mass->layer, mass->segment, mass->row}] = *mass;
    } else if (std::holds_alternative<trace::RequestPreempted>(event.payload)) {
      gaveWay.insert(event.request);
      ++preemptions;
    } else if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload)) {
      if (!gaveWay.contains(event.request)) answer.lookups.push_back(*lookup);
    } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload)) {
      if (removed->reason == trace::RemovalReason::Evicted) ++answer.evicted;
    } else if (std::holds_alternative<trace::RequestAdmitted>(event.payload)) {
      if (!gaveWay.contains(event.request)) admitted.push_back(event.request);
    } else if (std::holds_alternative<trace::BlockLoaded>(event.payload)) {
      ++loaded;
    }
  }
}

run::FinishedAnswer finishedAnswer(const RunRecord& record, const run::StepResult& step,
                                   const policy::Choice& policy) {
  run::FinishedAnswer answer;
  answer.request = step.request;
  answer.segments = record.answerOf(step).prompt;
  answer.tokens = step.tokens;
  answer.policy = policy;
  for (const std::vector<RequestId>& team : record.teams) {
    if (std::find(team.begin(), team.end(), step.request) == team.end()) continue;
    for (const RequestId member : team) {
      const ReportedReply& reported = record.answers.at(member);
      answer.teammates.members.push_back(
          {.request = member, .segments = reported.prompt, .answer = reported.tokens});
    }
  }
  return answer;
}

}  // namespace spanscope::test
