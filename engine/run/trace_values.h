// SPDX-License-Identifier: GPL-3.0-or-later
// Conversions between values of the engine and events of the trace.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/layout/span_table.h"
#include "engine/plan/plan.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"

#include <vector>

namespace spanscope::run {

/// The segments of a table as events have them, without the texts of their tokens.
std::vector<trace::SegmentInfo> segmentsOf(const layout::SpanTable& table);

/// `tokenizer` may be null: tokens are then shown by their ids.
trace::SpanTableLaidOut spanTableEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer);

/// The parts of a table's prompt.
trace::PromptDivided partsEvent(const layout::SpanTable& table);

/// What a layout that is not exact did to a table.
trace::LayoutApplied layoutEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer);
/// Which layout was chosen, with its block size and marker tokens.
trace::LayoutChosen layoutEvent(const layout::LayoutRules& rules);

/// The span table that the segments of an event describe. `vocabularySize`: tokens of the model. Throws
/// Failure if no request could have such a table.
layout::SpanTable spanTableOf(const std::vector<trace::SegmentInfo>& segments, std::int32_t vocabularySize);

trace::PlanMade planEvent(const plan::Plan& plan, std::string explain);

}  // namespace spanscope::run
