// SPDX-License-Identifier: GPL-3.0-or-later
// How close a finished reply is to a full prefill of the same tokens, under whatever policy it came about.
#pragma once

#include "engine/compute/backend.h"
#include "engine/model/decoder.h"
#include "engine/run/finished_reply.h"
#include "engine/run/session.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Most memory for the logits of one reply: that of longer ones is not to be had.
inline constexpr std::uint64_t kFidelityBytes = 1ULL << 30;
/// Most memory for its attention. Where all of its rows would take more, the first ones are compared.
inline constexpr std::uint64_t kFidelityAttentionBytes = 128ULL << 20;

/// What measuring needs of the model that gave the reply.
struct FidelityModel {
  model::Decoder& decoder;
  compute::Backend& backend;
  const text::Tokenizer* tokenizer;  ///< null: answers are compared by their tokens alone
};

/// Puts a reply of the session through the model twice, its tokens given: as its policy has it, through the
/// session's cache (Session::replayReply, which says what becomes of that), and as a full prefill of the
/// tokens that its prompt shows in view order, at positions 0, 1, 2, …, in a KV store of its own. Where rows
/// are bit-equal (DeviceInfo::rowsAreBitEqual) a policy that is exact against full prefill has a divergence
/// of exactly 0. Throws Failure as Session::replayReply, if memory cannot be had, or if it was stopped.
trace::FidelityMeasured measureFidelity(run::Session& session, const FidelityModel& model,
                                        const run::FinishedReply& reply, const std::stop_token& stop = {});

/// The tokens of a prompt that stand in its view, in view order.
std::vector<TokenId> visibleTokens(const std::vector<trace::SegmentInfo>& segments);

/// Gathers replies from the events of runs.
class FinishedReplies {
 public:
  /// Whether an event is one of those that it takes something from.
  static bool takes(const trace::Payload& payload);
  void take(const trace::Event& event);
  /// Those of a run that ended by themselves and have tokens, in the order of their requests, and forgets
  /// them and all before. Throws Failure, having forgotten them, if the run's policy is none that this
  /// program knows: how its replies came about cannot be repeated then.
  std::vector<run::FinishedReply> takeRun(RunId run);

 private:
  struct Reply {
    run::FinishedReply reply;
    bool ended = false;
    std::vector<RequestId> team;
  };
  std::map<RequestId, Reply> m_replies;
  std::map<RunId, std::string> m_policies;  ///< as they are written, of the runs that are not taken yet
};

}  // namespace spanscope::experiment
