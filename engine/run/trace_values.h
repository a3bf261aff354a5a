// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's own values in the words of the trace.
#pragma once

#include "engine/layout/layouts.h"
#include "engine/layout/span_table.h"
#include "engine/plan/plan.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/event.h"

namespace spanscope::run {

/// `tokenizer` may be null: then tokens are shown by their ids.
trace::SpanTableLaidOut spanTableEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer);

/// What a layout that is not exact did to a table, and which one it is.
trace::LayoutApplied layoutEvent(const layout::SpanTable& table, const text::Tokenizer* tokenizer);
trace::LayoutChosen layoutEvent(const layout::LayoutRules& rules);

/// The table that such an event says, for a model of so many tokens. Throws Failure where it is no table that
/// a request could have.
layout::SpanTable spanTableOf(const std::vector<trace::SegmentInfo>& segments, std::int32_t vocabularySize);

trace::PlanMade planEvent(const plan::Plan& plan, std::string explain);

}  // namespace spanscope::run
