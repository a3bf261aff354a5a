// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the layouts for a plan: what each does to the prompts and what it costs, at several block sizes.
// It lays out prompts and looks them up, but computes nothing.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/metrics/layout_metrics.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Small sizes show what happens; 16 is the usual size of servers.
inline constexpr std::array<std::int32_t, 3> kComparedBlockSizes{2, 4, 16};

/// One layout at one block size, for all prompts of the plan together. If a prompt contains replies,
/// `counts` and `blocks` assume the longest possible replies.
struct LayoutRow {
  layout::Layout layout = layout::Layout::Exact;
  std::int32_t blockSize = 0;  ///< tokens
  metrics::LayoutMetrics counts{};
  std::int64_t blocks = 0;     ///< number of virtual blocks
  run::CountRange computed{};  ///< tokens, with a cache that is empty at first
  /// The same afterwards, with the children of every plus in reversed order: if only full blocks are kept, as
  /// servers do, and if partial blocks are kept too.
  run::CountRange swappedFull{};
  run::CountRange swapped{};
  std::optional<std::string> problem{};  ///< why it cannot run; the counts are then unset
};

struct LayoutComparison {
  std::vector<LayoutRow> rows;  ///< by layout, then block size
  bool hasReplies = false;      ///< a prompt contains replies: the counts depend on their lengths
  bool hasOrder = false;        ///< a plus has at least two children, so that their order can be reversed
};

/// `session` gives the number of tokens in the pool, which is the same for every block size. Of `options`,
/// the policy and the limits count. Nothing if it was stopped.
std::optional<LayoutComparison> compareLayouts(
    const plan::Plan& plan, const run::RunOptions& options, const run::SessionConfig& session,
    const model::ModelConfig& model, const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
    std::span<const std::int32_t> blockSizes, const std::stop_token& stop = {});

}  // namespace spanscope::experiment
