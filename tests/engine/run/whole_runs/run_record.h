// SPDX-License-Identifier: GPL-3.0-or-later
// The result of one run of a session, and the facts in its events.
#pragma once

#include "engine/run/run_result.h"
#include "engine/trace/replay.h"
#include "engine/trace/sink.h"

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::test {

/// Applies the events of a session to a replay as they come, and keeps those of the run in progress.
class WatchingSink final : public trace::Sink {
 public:
  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

  /// Forgets the events so far. Stops the run after `stopAfter` passes; 0: never.
  void beginRun(std::int32_t stopAfter);

  const std::vector<trace::Event>& events() const { return m_events; }
  const trace::Replay& replay() const { return m_replay; }
  /// The error of the first event that did not fit the events before it.
  const std::optional<Error>& error() const { return m_error; }
  std::stop_token stopToken() const { return m_stop.get_token(); }

 private:
  std::uint64_t m_sequence = 0;
  std::vector<trace::Event> m_events;
  trace::Replay m_replay;
  std::optional<Error> m_error;
  std::int32_t m_passesLeft = 0;
  std::stop_source m_stop;
};

/// One answer as the events report it.
struct ReportedReply {
  std::vector<trace::SegmentInfo> prompt;
  std::vector<TokenId> tokens;
  std::vector<float> probabilities;
  std::string text;                                        ///< text of the tokens
  std::map<std::int32_t, trace::SegmentAttention> looked;  ///< by token
  std::map<std::int32_t, std::vector<float>> onTeammates;  ///< by token
  std::map<std::tuple<std::int32_t, std::uint32_t, std::int32_t>, trace::AttentionMass>
      rows;                                   ///< by layer, segment and row
  std::vector<trace::BlockLookedUp> lookups;  ///< lookups of its first admission
  std::int64_t evicted = 0;                   ///< blocks that were evicted for it
  bool isInOrder = true;                      ///< its tokens count up from 0
};

struct RunRecord {
  RunRecord(run::RunResult runResult, const std::vector<trace::Event>& events);

  run::RunResult result;
  std::map<RequestId, ReportedReply> answers;
  std::vector<RequestId> admitted;  ///< requests in order of admission, each once
  std::vector<std::vector<RequestId>> teams;
  std::int64_t preemptions = 0;
  std::int64_t loaded = 0;  ///< blocks loaded from tiers
  /// The time that loading took decided what was looked up in the tiers.
  bool isTimed = false;

  const ReportedReply& answerOf(const run::StepResult& step) const { return answers.at(step.request); }
};

/// The answer of a step in the form in which it can be replayed.
run::FinishedAnswer finishedAnswer(const RunRecord& record, const run::StepResult& step,
                                   const policy::Choice& policy);

}  // namespace spanscope::test
