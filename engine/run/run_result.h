// SPDX-License-Identifier: GPL-3.0-or-later
// The result of a run.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/policy/choice.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::run {

struct StepResult {
  StepIndex step = 0;
  RequestId request = 0;
  trace::StepOutcome outcome = trace::StepOutcome::EndToken;
  std::vector<TokenId> tokens;  ///< sampled ids, with the end token if one was sampled
  std::string text;             ///< the answer, without what the chat template adds
  trace::StepMetrics metrics;
};

/// A prompt that does not fit the model's context.
struct TooLongPrompt {
  std::int64_t tokens = 0;  ///< of the prompt
  std::int64_t most = 0;    ///< that it could have
  bool isAtLeast = false;   ///< it has more than `tokens`; the rest was not counted
  bool operator==(const TooLongPrompt&) const = default;
};

struct RunResult {
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;              ///< set if outcome is Failed
  std::optional<TooLongPrompt> tooLong{};  ///< set if `error` says that a prompt is too long
  std::vector<StepResult> steps;           ///< steps that have ended, ascending
  std::string answer;                      ///< text of the result items, joined by newlines
  double seconds = 0;
};

// A reply of a run that has ended, with all that is needed to put it through the model once more.

/// The team of a reply, if its policy has requests generate together and read each other. The members stand
/// in the order of their places, as the trace tells of them (TeamFormed).
struct Teammates {
  struct Member {
    RequestId request = 0;
    std::vector<trace::SegmentInfo> segments;  ///< from SpanTableLaidOut
    std::vector<TokenId> reply;                ///< from TokenGenerated, in order
  };
  std::vector<Member> members;  ///< include the reply's own request; empty: the reply was generated alone
};

/// A finished reply, as the trace describes it.
struct FinishedReply {
  /// The run of the session that replays the reply: a replay finds the blocks that this run stored under its
  /// salt. The events of a replay carry this run, request and node.
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
  std::vector<trace::SegmentInfo> segments;  ///< from SpanTableLaidOut
  std::vector<TokenId> tokens;               ///< from TokenGenerated, in order
  policy::Choice policy{};                   ///< from RunStarted
  Teammates teammates{};
};

/// Asks for the attention of a finished reply in more detail.
struct AttentionReplayRequest {
  FinishedReply reply;
  std::int32_t layer = 0;
  std::int32_t head = -1;   ///< −1: all heads
  bool singleKeys = false;  ///< true: attention by key token; false: by key block
};

/// What the tokens of a finished reply were drawn from, computed again under the policy of the reply.
struct ReplayedReply {
  /// [tokens of the reply][vocabularySize]: row i holds the logits from which token i was drawn.
  std::vector<std::vector<float>> logits;
  /// Attention by key token, for the first rows only. In each layer, the rows follow each other in order.
  std::vector<trace::AttentionMass> attention;
  std::int64_t cachedTokens = 0;      ///< tokens of the prompt whose keys and values were still in the cache
  std::int64_t recomputedTokens = 0;  ///< tokens of the prompt that had been evicted and were computed again
};

/// Most bytes of attention that one replay gives.
inline constexpr std::uint64_t kReplayBytes = 64ULL << 20;

}  // namespace spanscope::run
