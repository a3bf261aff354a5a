// SPDX-License-Identifier: GPL-3.0-or-later
// Computes bounds of the lengths of a plan's prompts and answers, for any answers. The bounds follow from
// layouts alone. Simulations do not give these bounds. A simulated run has only short answers or only long
// answers. But a short answer may leave space for a long answer. Open this file when a predicted length is
// exceeded.
#pragma once

#include "engine/layout/message_renderer.h"
#include "engine/layout/span_table.h"
#include "engine/model/config.h"
#include "engine/plan/plan.h"
#include "engine/policy/compute_plan.h"
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
  CountRange answer;            ///< tokens
  std::int64_t mostBlocks = 0;  ///< max blocks of prompt and answer if nothing is shared
};

/// Returns the tokens of all segments. A segment that is copied counts once.
std::int64_t allTokens(const layout::SpanTable& table, const policy::ComputePlan& rows);

/// Returns the max blocks of a request if nothing is shared. One block is for the copy of a partial block.
std::int64_t mostBlocksOf(const layout::SpanTable& table, std::int32_t maxNewTokens, std::int32_t blockSize);

/// Returns the bounds by step. After a step that cannot be laid out, no step has bounds. If no prompt has an
/// answer, no step has bounds, because the lengths are known. `renderer` gets the layout of the options.
std::vector<std::optional<PromptBounds>> promptBounds(const plan::Plan& plan, const RunOptions& options,
                                                      const model::ModelConfig& model,
                                                      layout::MessageRenderer& renderer,
                                                      std::int32_t blockSize, const std::stop_token& stop);

}  // namespace spanscope::run
