// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds of the lengths of a plan's prompts and replies, whatever the replies say. They are computed from
// layouts alone. Rehearsals would not do: a rehearsal has only short replies or only long ones, but a short
// reply may make room for a long one.
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
  CountRange view;              ///< tokens in the view, SpanTable::tokenCount()
  CountRange reply;             ///< tokens
  std::int64_t mostBlocks = 0;  ///< most blocks that prompt and reply can take if nothing is shared
};

/// Most blocks that a request can take if nothing is shared, including one for the copy of a shared tail.
std::int64_t mostBlocksOf(const layout::SpanTable& table, std::int32_t maxNewTokens, std::int32_t blockSize);

/// The bounds by step. Steps have none from the first one on that cannot be laid out. No step has bounds if
/// no prompt holds a reply: the lengths are then known. `renderer` is set to the layout of the options.
std::vector<std::optional<PromptBounds>> promptBounds(const plan::Plan& plan, const RunOptions& options,
                                                      const model::ModelConfig& model,
                                                      layout::MessageRenderer& renderer,
                                                      std::int32_t blockSize, const std::stop_token& stop);

}  // namespace spanscope::run
