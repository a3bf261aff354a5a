// SPDX-License-Identifier: GPL-3.0-or-later
// What a run of a plan will find in the cache, said beforehand.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/cache/what_if.h"
#include "engine/layout/span_table.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace spanscope::run {

/// A count that is known, or the bounds it will be within.
struct CountRange {
  static constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t least = 0;
  std::int64_t most = 0;  ///< kUnbounded: nobody knows
  bool bounded() const { return most != kUnbounded; }
  bool known() const { return least == most; }
  bool holds(std::int64_t count) const { return least <= count && count <= most; }
  CountRange& operator+=(const CountRange& other) {
    least += other.least;
    most = bounded() && other.bounded() ? most + other.most : kUnbounded;
    return *this;
  }
  bool operator==(const CountRange&) const = default;
};

/// Why the counts of a step are bounds.
enum class Doubt : std::uint8_t {
  None,            ///< they are not: the run will have these counts, token for token
  HoldsReply,      ///< the prompt holds a reply that has yet to be sampled
  ContinuesReply,  ///< a segment goes on or ends where a reply to an earlier prompt will stand
  FullPool,        ///< how long replies get decides what is evicted, or who gives way
  Tiers            ///< what a tier still has, or is left alone for being slow, turns out when it runs
};
const char* doubtName(Doubt doubt);  ///< "none", "holds_reply", "continues_reply", "full_pool", "tiers"
/// Half a sentence for a person: "the prompt holds a reply that has yet to be sampled"; empty for None.
const char* doubtReason(Doubt doubt);

/// Tokens of a predicted span table that stand for sampled ones are negative.
constexpr bool isUnknown(TokenId token) {
  return token < 0;
}

/// Who stored a content.
struct StoredBy {
  RunId run = 0;
  RequestId request = 0;
  NodePath node;
};

struct StepPrediction {
  StepIndex step = 0;
  Doubt doubt = Doubt::None;
  CountRange prompt;  ///< tokens, as in trace::StepMetrics
  CountRange cached;
  CountRange relocated;
  CountRange computed;
  CountRange evicted;  ///< contents that admission, reply and being resumed take out of the cache
  /// The span table and what is looked up, one entry a virtual block, where every reply gets as long as it
  /// may. A block that this prediction evicted has `evictedBy` 0.
  layout::SpanTable table;
  std::vector<trace::BlockLookedUp> blocks;
  /// Whether the reasons of blocks that are not found are sure where the counts are. A reply that is sampled
  /// before may say by chance what a block holds, or end before that is stored: it counts for the reason
  /// alone.
  bool reasonsAreSure = false;
  /// For each of `blocks`, what would make a hit of it, where that was asked for; blocks that `change.block`
  /// names are those of the rehearsed cache, whose contents `servedBy` names.
  std::vector<std::vector<cache::WhatIf>> whatIf;
  std::map<BlockId, StoredBy> servedBy;
};

struct Prediction {
  std::vector<StepPrediction> steps;  ///< those that will be admitted, by step
  std::vector<StepIndex> order;  ///< the same in the order of admission, with replies as long as they may
  std::optional<Error> error;    ///< why the run will fail
  bool errorIsCertain = false;   ///< false: only if replies get long, or only if they are short
  bool stopped = false;          ///< on request; then nothing else is defined
};

}  // namespace spanscope::run
