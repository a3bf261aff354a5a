// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the result of a run, and of a replay of an answer. Open this file to read results.
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
  std::string text;             ///< the answer, without the text of the chat template
  trace::StepMetrics metrics;
};

/// A prompt that does not fit the model's context.
struct TooLongPrompt {
  std::int64_t tokens = 0;  ///< of the prompt
  std::int64_t most = 0;    ///< the max number of tokens of the prompt
  bool isAtLeast = false;   ///< the prompt has more than `tokens` tokens; the rest was not counted
  bool operator==(const TooLongPrompt&) const = default;
};

struct RunResult {
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;              ///< set if outcome is Failed
  std::optional<TooLongPrompt> tooLong{};  ///< set if `error` reports that a prompt is too long
  std::vector<StepResult> steps;           ///< steps that have ended, ascending
  std::string answer;                      ///< text of the result items, joined by newlines
  double seconds = 0;
};

// An answer of an ended run, with everything that is needed to recompute the answer.

/// The team of an answer. A team is a group of requests that generate together and read each other's answers.
/// The members have the order of their places in the event TeamFormed.
struct Teammates {
  struct Member {
    RequestId request = 0;
    std::vector<trace::SegmentInfo> segments;  ///< from SpanTableLaidOut
    std::vector<TokenId> answer;               ///< from TokenGenerated, in order
  };
  std::vector<Member> members;  ///< include the answer's own request; empty: the answer was generated alone
};

/// A finished answer, as the trace describes it.
struct FinishedAnswer {
  /// The run of the session that replays the answer. A replay finds the blocks that this run stored under its
  /// salt. The events of a replay have this run, request and node.
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
  std::vector<trace::SegmentInfo> segments;  ///< from SpanTableLaidOut
  std::vector<TokenId> tokens;               ///< from TokenGenerated, in order
  policy::Choice policy{};                   ///< from RunStarted
  Teammates teammates{};
};

/// A request for the attention of a finished answer in more detail.
struct AttentionReplayRequest {
  FinishedAnswer answer;
  std::int32_t layer = 0;
  std::int32_t head = -1;   ///< −1: all heads
  bool singleKeys = false;  ///< true: attention by key token; false: by key block
};

/// The logits of a finished answer's tokens, recomputed under the policy of the answer.
struct ReplayedAnswer {
  /// [tokens of the answer][vocabularySize]: token i was sampled from row i.
  std::vector<std::vector<float>> logits;
  /// Attention by key token, for the first rows only. In each layer, the rows come in order.
  std::vector<trace::AttentionMass> attention;
  std::int64_t cachedTokens = 0;      ///< tokens of the prompt whose keys and values were still in the cache
  std::int64_t recomputedTokens = 0;  ///< tokens of the prompt that had been evicted and were recomputed
};

/// Max bytes of attention of one replay.
inline constexpr std::uint64_t kReplayBytes = 64ULL << 20;

}  // namespace spanscope::run
