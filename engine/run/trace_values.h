// SPDX-License-Identifier: GPL-3.0-or-later
// Converts values of the engine to events of the trace, and back. Open this file when an event lacks a value.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/layout/span_table.h"
#include "engine/plan/plan.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"

#include <vector>

namespace spanscope::run {

/// Returns the segments of a table as in events, without the texts of their tokens.
std::vector<trace::SegmentInfo> segmentsOf(const layout::SpanTable& table);

/// `tokenizer` may be null. Tokens are then shown as ids.
trace::SpanTableLaidOut spanTableEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer);

/// Returns the sections of a table's prompt.
trace::PromptDivided partsEvent(const layout::SpanTable& table);

/// Returns the changes that a layout other than exact made in a table.
trace::LayoutApplied layoutEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer);
/// Returns the chosen layout, with its block size and delimiter tokens.
trace::LayoutChosen layoutEvent(const layout::LayoutRules& rules);

/// Returns the span table that the segments of an event describe. `vocabularySize` is the number of tokens of
/// the model. Throws Failure if no request can have such a table.
layout::SpanTable spanTableOf(const std::vector<trace::SegmentInfo>& segments, std::int32_t vocabularySize);

trace::PlanMade planEvent(const plan::Plan& plan, std::string explain);

}  // namespace spanscope::run
