// SPDX-License-Identifier: GPL-3.0-or-later
// How the scheduler is to compute a request, and its place beside others.
#pragma once

#include "engine/base/ids.h"
#include "engine/compute/sampling.h"
#include "engine/policy/row_plan.h"
#include "engine/run/attention_detail.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::run {

/// Rows of the last segment, from this one to its end, that are computed even if they are stored, to be told
/// of one by one by RequestListener::onReplayed; what is computed of them is not stored.
struct ReplayedRows {
  std::int32_t firstRow = 0;  ///< local token of the last segment
  bool singleKeys = false;    ///< by key token; else by key block
  /// Rows whose attention is told, from the first; the others are computed alone.
  std::int32_t observedRows = std::numeric_limits<std::int32_t>::max();
};

/// A place in a team: requests of a run that generate in step. Once all of them are past their prompts, each
/// pass computes one generated token of each member that policy::ReplyRows::next() names. A team is admitted,
/// gives way and ends as a whole.
struct TeamPlace {
  std::uint32_t team = 0;      ///< number of the team within the run
  std::uint32_t place = 0;     ///< of this request in it, 0 … members − 1
  std::uint32_t members = 2;   ///< at least 2
  std::int64_t positions = 0;  ///< of the model: a reply ends where its view has no more of them
};

/// Which logits of the prompt RequestListener::onLogits is told.
enum class LogitReport : std::uint8_t {
  None,
  Last,      ///< of the prompt's last token
  Replayed,  ///< of the rows of RequestOptions::replay
  Every      ///< of every token that is computed
};

struct RequestOptions {
  RunId run = 0;
  NodePath node;
  std::optional<std::string> salt;  ///< tenant; nothing: the scheduler's
  std::int32_t priority = 0;        ///< those with a larger one are served first
  compute::SamplingSettings sampling;
  std::int32_t maxNewTokens = 0;  ///< 0: only the prompt is computed
  /// How a reply of that many tokens has ended: TokenLimit, or ContextLimit where it may not have more
  /// because the model's context ends there.
  trace::StepOutcome limitOutcome = trace::StepOutcome::TokenLimit;
  std::vector<TokenId> endTokens;  ///< ascending or not; any of them ends the reply
  std::vector<std::int32_t> observedLayers;
  AttentionDetail attentionDetail = AttentionDetail::Answer;
  /// Attention of every single row of the prompt instead of every query block, and, in a prompt of at most
  /// kMostTokensForSingleKeys tokens, on every single key instead of every key block.
  bool observeRows = false;
  LogitReport logits = LogitReport::None;
  /// Nothing else is observed then.
  std::optional<ReplayedRows> replay;
  policy::RowPlan rows;           ///< of the request's table
  std::optional<TeamPlace> team;  ///< with it, `rows` has a plan of replies
  /// Of a member of a team: the whole reply, which is then computed but not drawn.
  std::vector<TokenId> given;
};

}  // namespace spanscope::run
