// SPDX-License-Identifier: GPL-3.0-or-later
// What each layout does to the prompts of a plan and what it costs, at several block sizes, side by side.
// Nothing is computed: prompts are laid out and looked up.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"
#include "engine/run/run_options.h"
#include "engine/run/session_config.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/layout_figures.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// Small ones show what happens; 16 is what servers have.
inline constexpr std::array<std::int32_t, 3> kComparedBlockSizes{2, 4, 16};

/// One layout at one block size. Of all prompts of the plan; where one holds replies, `figures` and `blocks`
/// are those of replies as long as they may be.
struct LayoutRow {
  layout::Layout layout = layout::Layout::Exact;
  std::int32_t blockSize = 0;  ///< tokens
  trace::LayoutFigures figures{};
  std::int64_t blocks = 0;     ///< virtual ones
  run::CountRange computed{};  ///< tokens, with a cache that is empty at first
  /// And afterwards with the children of every plus in reversed order; where only full blocks are kept, as
  /// servers do, and where what does not fill one is kept as well.
  run::CountRange swappedFull{};
  run::CountRange swapped{};
  std::optional<std::string> problem{};  ///< why it cannot run; then the counts are nothing
};

struct LayoutComparison {
  std::vector<LayoutRow> rows;  ///< by layout, then block size
  bool hasReplies = false;      ///< a prompt holds replies: figures depend on how long they get
  bool hasOrder = false;        ///< a plus has two children or more, so that there is something to reverse
};

/// `session` says how many tokens the pool holds, and is taken for every block size; of `options` its policy
/// and limits count. Nothing if it was stopped.
std::optional<LayoutComparison> compareLayouts(
    const plan::Plan& plan, const run::RunOptions& options, const run::SessionConfig& session,
    const model::ModelConfig& model, const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
    std::span<const std::int32_t> blockSizes, const std::stop_token& stop = {});

}  // namespace spanscope::experiment
