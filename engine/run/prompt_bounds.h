// SPDX-License-Identifier: GPL-3.0-or-later
// How long the prompts of a plan can get and how long its replies, whatever these say. It is worked out from
// layouts alone: a rehearsal has all replies short or all of them long, and one may make room for another.
#pragma once

#include "engine/layout/message_renderer.h"
#include "engine/layout/span_table.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"
#include "engine/run/run_options.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace spanscope::run {

struct PromptBounds {
  CountRange prompt;            ///< tokens, as in trace::StepMetrics
  CountRange view;              ///< tokens that stand in the view, SpanTable::tokenCount()
  CountRange reply;             ///< tokens
  std::int64_t mostBlocks = 0;  ///< that prompt and reply can take, nothing shared
};

/// Blocks that a request can take, nothing shared, one for the copy of a shared tail included.
std::int64_t mostBlocksOf(const layout::SpanTable& table, std::int32_t maxNewTokens, std::int32_t blockSize);

/// By step; nothing for those behind one that cannot be laid out, and nothing at all where no prompt holds a
/// reply: then lengths are what they are. The renderer is told the layout of the options.
std::vector<std::optional<PromptBounds>> promptBounds(const plan::Plan& plan, const RunOptions& options,
                                                      const model::ModelConfig& model,
                                                      layout::MessageRenderer& renderer,
                                                      std::int32_t blockSize, const std::stop_token& stop);

}  // namespace spanscope::run
