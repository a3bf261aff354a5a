// SPDX-License-Identifier: GPL-3.0-or-later
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
  SpanTable table;              ///< the span table with which the step was run
  std::vector<TokenId> tokens;  ///< the sampled ids, including an end token if one was sampled
};

/// Which visibility the segments get.
enum class Visibility {
  Full,              ///< everything is one segment with plain causal attention
  Spans,             ///< block attention: the children of a plus are independent
  SpansAtOneBase,    ///< the same, but all children of a plus get the base position of the first child
  SpansBehindPrefix  ///< the children of a plus see what stands before the plus, but not each other
};

/// Lays out the prompt of a step by the rules of the renderer; it ends with the generation prompt.
/// `outputs[i]` belongs to step i of the plan. The output of every step that the prompt needs must be there.
/// Throws Failure if a text cannot be encoded.
///
/// Exact: nothing is padded or cropped. Joining all segments gives exactly the chat template's text of the
/// prompt, with one exception: with `Spans` a closure (the prompt of an earlier step with its reply) begins
/// like the conversation that it was, with what the template puts before a first message.
///
/// Padded and cropped: every child of a plus begins with the plus marker. The last child of a cross that has
/// tokens begins with the cross marker. Each marker stands at the beginning of a block. The generation prompt
/// gets a plus marker of its own if the last marker before it is a plus marker. Pads belong to the segment
/// that they follow, and so are found with it. Nothing is padded at the end.
///
/// Cropped: a message or reply of the assistant loses its closing tokens and then what does not fill a block;
/// if it fills no block, it loses everything. For a body that IBM/spnl's server takes, without rewriting and
/// without empty messages, the cropped tokens are those that IBM/spnl 0.22 makes of it (spnl::promptTokens).
/// There are two differences: what the template puts before a first message stands before all markers and is
/// never cropped, and replies stand there as they were sampled.
SpanTable layOut(const plan::Step& step, std::span<const StepOutput> outputs, MessageRenderer& renderer,
                 Visibility visibility);

/// The exact layout of a single prompt.
SpanTable layoutExact(const plan::Step& step, std::span<const StepOutput> outputs,
                      const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
                      Visibility visibility);

}  // namespace spanscope::layout
