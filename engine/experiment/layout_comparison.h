// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the layouts for a plan at several block sizes: the changes of prompts, and their cost. The
// comparison lays out prompts and looks up their blocks, but computes nothing. Open this file to compare
// another property of layouts.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/metrics/token_account.h"
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

/// Small sizes show the effects clearly; 16 is the usual size of servers.
inline constexpr std::array<std::int32_t, 3> kComparedBlockSizes{2, 4, 16};

/// One layout at one block size, with the sums of all prompts of the plan. If a prompt contains answers,
/// `counts` and `blocks` assume their max lengths.
struct LayoutRow {
  layout::Layout layout = layout::Layout::Exact;
  std::int32_t blockSize = 0;  ///< tokens
  metrics::LayoutMetrics counts{};
  std::int64_t blocks = 0;     ///< number of virtual blocks
  run::CountRange computed{};  ///< Tokens, if the cache is empty at first.
  /// The tokens of a second run, with the children of every plus in reversed order. `swappedFull` assumes
  /// that only full blocks are cached, as on servers. `swapped` assumes that partial blocks are cached too.
  run::CountRange swappedFull{};
  run::CountRange swapped{};
  std::optional<std::string> problem{};  ///< the reason why the query cannot run; the counts are then not set
};

struct LayoutComparison {
  std::vector<LayoutRow> rows;  ///< by layout, then block size
  bool hasAnswers = false;  ///< whether a prompt contains answers; the counts then depend on their lengths
  bool hasOrder = false;    ///< whether a plus has at least two children, so that their order can be reversed
};

/// `session` gives the number of tokens in the pool, which is the same for every block size. Of `options`,
/// only the policy and the limits matter. Returns nothing when stopped.
std::optional<LayoutComparison> compareLayouts(
    const plan::Plan& plan, const run::RunOptions& options, const run::SessionConfig& session,
    const model::ModelConfig& model, const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
    std::span<const std::int32_t> blockSizes, const std::stop_token& stop = {});

}  // namespace spanscope::experiment
