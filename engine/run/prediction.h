// SPDX-License-Identifier: GPL-3.0-or-later
// Defines a prediction: what a run of a plan would reuse from the cache. Open this file to show or compare
// predictions.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/what_if.h"
#include "engine/layout/span_table.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::run {

using metrics::CountRange;

/// The reason why the counts of a step are only bounds.
enum class Doubt : std::uint8_t {
  None,             ///< the counts are exact: the run will have the same counts
  HoldsAnswer,      ///< the prompt contains an answer that is not sampled yet
  ContinuesAnswer,  ///< a segment continues or ends at the place of a later answer to an earlier prompt
  SeveralBlocks,  ///< the content is stored at several positions; the lengths of answers decide which stored
                  ///< copy is the hit
  FullPool,       ///< the lengths of answers decide the evictions, or which request is preempted
  Tiers           ///< only the run shows the contents of a tier, or whether a slow tier is skipped
};
const char* doubtName(Doubt doubt);  ///< "none", "holds_answer", "continues_answer", "several_blocks", ...
/// Returns a clause for the user about the reason, or an empty text for None.
const char* doubtReason(Doubt doubt);

/// In a predicted span table, negative ids are tokens that are not sampled yet.
constexpr bool isUnknown(TokenId token) {
  return token < 0;
}

/// The request that stored a content.
struct StoredBy {
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
};

/// The rows of a prompt from which the policy chooses the recomputed rows by their values. Before the run,
/// only the number of recomputed rows is known. The rows of a group are chosen together.
struct ChosenRows {
  struct Group {
    std::int64_t rows = 0;
    std::int64_t kept = 0;  ///< number of rows that are recomputed
    bool operator==(const Group&) const = default;
  };
  std::vector<Group> groups;
  /// By segment of the table: the group of its visible rows, if any. Empty: no segment has a group.
  std::vector<std::optional<std::uint32_t>> groupOf;
};

struct StepPrediction {
  StepIndex step = 0;
  Doubt doubt = Doubt::None;
  CountRange prompt;  ///< tokens, as in trace::StepMetrics
  CountRange cached;
  CountRange relocated;
  CountRange computed;
  CountRange evicted;  ///< evictions when the step is admitted, generates and is resumed.
  /// The span table and its lookups, one entry per virtual block, if every answer has its max length. If this
  /// prediction evicted a block, the `evictedBy` of the block is 0.
  layout::SpanTable table;
  std::vector<trace::BlockLookedUp> blocks;
  ChosenRows chosen;  ///< of the same table
  /// Max number of chosen rows that can be recomputed, for any lengths of answers.
  std::int64_t mostChosen = 0;
  bool isExactLayout = false;  ///< for any answers, the layout adds and removes nothing
  /// Whether exact counts also imply certain reasons of misses. An earlier answer may by chance have the
  /// tokens of a block, or may end before a block is stored. Such an answer changes the reason and not the
  /// counts.
  bool reasonsAreSure = false;
  /// For each of `blocks`, the changes that would make the block a hit. Empty unless requested. WhatIf::block
  /// names a block of the simulated cache. `servedBy` names the request that stored its content.
  std::vector<std::vector<cache::WhatIf>> whatIf;
  std::map<BlockId, StoredBy> servedBy;
};

/// Returns the predicted token counts of a prompt, if every answer has its max length. The counts do not
/// include rows that the policy chooses. `blockSize` is in tokens and at least 1.
metrics::RequestTokens tokensOf(const StepPrediction& step, std::int32_t blockSize);

/// Returns the account of a step's prompt before the step runs. Unlike this account, the counts of
/// StepPrediction include the tokens beside the prompt.
using AccountPrediction = metrics::PredictedAccount;
AccountPrediction accountOf(const StepPrediction& step, std::int32_t blockSize);
/// Returns the account of some visible tokens of the prompt, if every answer has its max length. `served` is
/// tokensOf(step). If the policy chooses rows among these and other tokens, the account has bounds. Tokens
/// beside the prompt and truncated tokens do not count.
AccountPrediction accountOf(const StepPrediction& step, const metrics::RequestTokens& served,
                            std::span<const trace::PartRange> ranges);

struct Prediction {
  std::vector<StepPrediction> steps;  ///< the steps that will be admitted, ascending
  std::vector<StepIndex> order;       ///< in the order of admission, if answers have their max length
  std::optional<Error> error;         ///< the reason why the run will fail
  bool errorIsCertain = false;  ///< false: the run fails only with long answers, or only with short answers
  bool stopped = false;  ///< the prediction was stopped on request; all other members are then undefined
};

}  // namespace spanscope::run
