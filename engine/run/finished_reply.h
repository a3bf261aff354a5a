// SPDX-License-Identifier: GPL-3.0-or-later
// A reply of a run that has ended, to be put through the model once more.
#pragma once

#include "engine/base/ids.h"
#include "engine/policy/choice.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <vector>

namespace spanscope::run {

/// What a reply was written beside and in view of, where its policy has requests generate together: in the
/// order of their places the members of its team, as the trace tells of them (TeamFormed).
struct Teammates {
  struct Member {
    RequestId request = 0;
    std::vector<trace::SegmentInfo> segments;  ///< of SpanTableLaidOut
    std::vector<TokenId> reply;                ///< of TokenGenerated, in order
  };
  std::vector<Member> members;  ///< the reply's own request among them; empty: it was written by itself
};

/// A finished reply, as the trace tells of it.
struct FinishedReply {
  RunId run = 0;  ///< for the events that tell of it, as the next two
  RequestId request = 0;
  NodePath node;
  std::vector<trace::SegmentInfo> segments;  ///< of SpanTableLaidOut
  std::vector<TokenId> tokens;               ///< of TokenGenerated, in order
  policy::Choice policy{};                   ///< of RunStarted
  Teammates teammates{};
};

/// A finished reply whose attention is to be seen more closely.
struct AttentionReplayRequest {
  FinishedReply reply;
  std::int32_t layer = 0;
  std::int32_t head = -1;   ///< −1: all
  bool singleKeys = false;  ///< by key token; else by key block
};

/// What a finished reply was drawn from, as its policy has it.
struct ReplayedReply {
  /// [tokens of the reply][vocabularySize]: each row is the one from which the token was drawn.
  std::vector<std::vector<float>> logits;
  /// By key token, for the first rows alone; of one row after the other in each layer.
  std::vector<trace::AttentionMass> attention;
  std::int64_t cachedTokens = 0;      ///< of the prompt, whose keys and values were still there
  std::int64_t recomputedTokens = 0;  ///< and those that had been evicted and were computed again
};

/// Most bytes of attention that one replay gives.
inline constexpr std::uint64_t kReplayBytes = 64ULL << 20;

}  // namespace spanscope::run
