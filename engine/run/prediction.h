// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted reuse: what a run of a plan will find in the cache.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/what_if.h"
#include "engine/layout/span_table.h"
#include "engine/metrics/predicted_account.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::run {

using metrics::CountRange;

/// Why the counts of a step are only bounds.
enum class Doubt : std::uint8_t {
  None,            ///< the counts are exact: the run will have them, token for token
  HoldsReply,      ///< the prompt holds a reply that has yet to be sampled
  ContinuesReply,  ///< a segment goes on or ends at a place where a reply to an earlier prompt will stand
  SeveralBlocks,  ///< what is found stands at several positions; the lengths of replies decide which is found
  FullPool,       ///< the length of replies decides what is evicted, or which request gives way
  Tiers           ///< only the run shows what a tier still has, or whether a slow tier is left alone
};
const char* doubtName(Doubt doubt);  ///< "none", "holds_reply", "continues_reply", "several_blocks", ...
/// Half a sentence for a person: "the prompt holds a reply that has yet to be sampled"; empty for None.
const char* doubtReason(Doubt doubt);

/// In a predicted span table, negative tokens stand for tokens that have yet to be sampled.
constexpr bool isUnknown(TokenId token) {
  return token < 0;
}

/// The request that stored a content.
struct StoredBy {
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
};

/// The rows of a prompt among which the policy chooses those that it computes again by their values: how many
/// is known before the run, which is not. The rows of a group are chosen together.
struct ChosenRows {
  struct Group {
    std::int64_t rows = 0;
    std::int64_t kept = 0;  ///< how many of them are computed again
    bool operator==(const Group&) const = default;
  };
  std::vector<Group> groups;
  /// By segment of the table: the group of its visible rows, if they belong to one. Empty: no segment does.
  std::vector<std::optional<std::uint32_t>> groupOf;
};

struct StepPrediction {
  StepIndex step = 0;
  Doubt doubt = Doubt::None;
  CountRange prompt;  ///< tokens, as in trace::StepMetrics
  CountRange cached;
  CountRange relocated;
  CountRange computed;
  CountRange evicted;  ///< contents that leave the cache when the step is admitted, replies and is resumed
  /// The span table and what is looked up, one entry a virtual block, for the case that every reply gets as
  /// long as it may. If this prediction evicted a block, the `evictedBy` of the block is 0.
  layout::SpanTable table;
  std::vector<trace::BlockLookedUp> blocks;
  ChosenRows chosen;  ///< of the same table
  /// The most rows that can be computed again of those that are chosen, however long replies get.
  std::int64_t mostChosen = 0;
  bool isExactLayout = false;  ///< whatever replies say, the layout adds and leaves out nothing
  /// Whether the reasons of misses are sure if the counts are sure. A reply that is sampled before may by
  /// chance hold the tokens of a block, or may end before a block is stored. This changes the reason, not the
  /// counts.
  bool reasonsAreSure = false;
  /// For each of `blocks`, what would make a hit of it, if that was asked for. WhatIf::block names a block of
  /// the rehearsed cache; `servedBy` says who stored its content.
  std::vector<std::vector<cache::WhatIf>> whatIf;
  std::map<BlockId, StoredBy> servedBy;
};

/// What a run's events would say of the tokens of this prompt if every reply gets as long as it may, but for
/// the rows that the policy chooses. `blockSize` is in tokens and at least 1.
metrics::RequestTokens tokensOf(const StepPrediction& step, std::int32_t blockSize);

/// The account of a step's prompt before it runs. The counts of StepPrediction are those of the engine: they
/// include the tokens beside the prompt.
using AccountForecast = metrics::PredictedAccount;
AccountForecast accountOf(const StepPrediction& step, std::int32_t blockSize);
/// The account of some visible tokens of the prompt if every reply gets as long as it may; `served` is
/// tokensOf(step). Where the policy chooses rows among these and others, it holds bounds. What lies beside
/// the prompt or was cropped is not counted.
AccountForecast accountOf(const StepPrediction& step, const metrics::RequestTokens& served,
                          std::span<const trace::PartRange> ranges);

struct Prediction {
  std::vector<StepPrediction> steps;  ///< the steps that will be admitted, ascending
  std::vector<StepIndex>
      order;                    ///< the same in the order of admission, if replies are as long as they may be
  std::optional<Error> error;   ///< why the run will fail
  bool errorIsCertain = false;  ///< false: only if replies get long, or only if they are short
  bool stopped = false;         ///< on request; then nothing else here is defined
};

}  // namespace spanscope::run
