// SPDX-License-Identifier: GPL-3.0-or-later
// What one run of a session gave and told.
#pragma once

#include "engine/run/finished_reply.h"
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

  /// Forgets the events so far. `stopAfter`: passes; 0: never.
  void beginRun(std::int32_t stopAfter);

  const std::vector<trace::Event>& events() const { return m_events; }
  const trace::Replay& replay() const { return m_replay; }
  /// Why an event did not fit those before it; the first.
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

/// One reply, as the events tell of it.
struct ToldReply {
  std::vector<trace::SegmentInfo> prompt;
  std::vector<TokenId> tokens;
  std::vector<float> probabilities;
  std::string text;                                        ///< of the tokens
  std::map<std::int32_t, trace::SegmentAttention> looked;  ///< by token
  std::map<std::int32_t, std::vector<float>> onTeammates;  ///< by token
  std::map<std::tuple<std::int32_t, std::uint32_t, std::int32_t>, trace::AttentionMass>
      rows;                                   ///< by layer, segment and row
  std::vector<trace::BlockLookedUp> lookups;  ///< of its first admission
  std::int64_t evicted = 0;                   ///< blocks that it had evicted
  bool isInOrder = true;                      ///< its tokens count up from 0
};

struct RunRecord {
  RunRecord(run::RunResult runResult, const std::vector<trace::Event>& events);

  run::RunResult result;
  std::map<RequestId, ToldReply> replies;
  std::vector<RequestId> admitted;  ///< in this order, each once
  std::vector<std::vector<RequestId>> teams;
  std::int64_t preemptions = 0;
  std::int64_t loaded = 0;  ///< blocks from tiers
  /// How long things took decided what was looked for in the tiers.
  bool isTimed = false;

  const ToldReply& replyOf(const run::StepResult& step) const { return replies.at(step.request); }
};

/// The reply of a step as it can be put through the model once more.
run::FinishedReply finishedReply(const RunRecord& record, const run::StepResult& step,
                                 const policy::Choice& policy);

}  // namespace spanscope::test
