// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out a generation step as a span table. Open this file when a prompt has the wrong tokens or segments.
#pragma once

#include "engine/base/ids.h"
#include "engine/layout/message_renderer.h"
#include "engine/layout/span_table.h"
#include "engine/plan/plan.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <span>
#include <vector>

namespace spanscope::layout {

/// The result of an earlier step of the plan.
struct StepOutput {
  SpanTable table;              ///< the span table of the step's run
  std::vector<TokenId> tokens;  ///< the sampled ids, including an end token if one was sampled
};

/// The attention between segments.
enum class Visibility {
  Full,              ///< everything is one segment with plain causal attention
  Spans,             ///< block attention: the children of a plus are independent
  SpansAtOneBase,    ///< like Spans, but all children of a plus have the start position of the first child
  SpansBehindPrefix  ///< the children of a plus attend to the prompt before the plus, but not to each other
};

/// Lays out the prompt of a step by the rules of the renderer. The prompt ends with the generation prompt.
/// `outputs[i]` belongs to step i of the plan. Every output that the prompt needs must exist. Throws Failure
/// if a text cannot be encoded.
///
/// Exact: adds and truncates nothing. All segments together are exactly the chat template's text of the
/// prompt, with one exception. With `Spans`, a subquery result (the prompt of an earlier step with its
/// answer) begins like the original conversation. The subquery result has the text that the template puts
/// before a first message.
///
/// Padded and cropped:
/// - Every child of a plus begins with the plus delimiter.
/// - The last child of a cross that has tokens begins with the cross delimiter.
/// - Each delimiter is at the beginning of a block.
/// - The generation prompt gets a plus delimiter if the last delimiter before the generation prompt is a plus
///   delimiter.
/// - Padding belongs to the segment before it, and is cached with this segment.
/// - Nothing is padded at the end.
///
/// Cropped: a message or answer of the assistant loses its closing tokens. The message is then truncated to
/// full blocks. A message without a full block loses all tokens.
///
/// For some bodies, the cropped tokens equal those of IBM/spnl 0.22 (spnl::promptTokens). Such a body is
/// accepted by IBM/spnl's server, needs no rewriting and has no empty messages. Spanscope differs from
/// IBM/spnl in two points:
/// - The text that the template puts before a first message comes before all delimiters and is never
///   truncated.
/// - Answers are in the prompt as they were sampled.
SpanTable layOut(const plan::Step& step, std::span<const StepOutput> outputs, MessageRenderer& renderer,
                 Visibility visibility);

/// Lays out a single prompt in the exact layout.
SpanTable layoutExact(const plan::Step& step, std::span<const StepOutput> outputs,
                      const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
                      Visibility visibility);

}  // namespace spanscope::layout
