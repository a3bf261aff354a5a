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

/// What an earlier step of the plan left behind.
struct StepOutput {
  SpanTable table;              ///< its span table as it was run
  std::vector<TokenId> tokens;  ///< the ids that were sampled, an end token included if one was
};

/// Which visibility the segments get.
enum class Visibility {
  Full,              ///< everything is one segment with plain causal attention
  Spans,             ///< block attention: plus children are independent
  SpansAtOneBase,    ///< the same; all children of a plus stand where its first one does
  SpansBehindPrefix  ///< children of a plus see what stands before it, but not each other
};

/// Lays a step out by the rules of the renderer. Ends with the generation prompt. `outputs[i]` belongs to
/// step i of the plan; every step that the prompt needs must be there. Throws Failure if text cannot be
/// encoded.
///
/// Exact: nothing is padded or cropped, and joining all segments gives exactly the chat template's text of
/// the prompt, save that with `Spans` a closure begins as the conversation that it was, with what the
/// template puts before a first message.
///
/// Padded and cropped: every child of a plus begins with the plus marker, and the last child of a cross that
/// has tokens with the cross marker, each at the beginning of a block; the generation prompt gets a plus
/// marker of its own where the last marker before it is one. Pads belong to what they stand behind, and so
/// are found with it. Nothing is padded at the end. Cropped: a message or reply of the assistant loses its
/// closing tokens and then what does not fill a block; all of it, where it fills none. Of a body that
/// IBM/spnl's server takes, with no rewriting, the cropped tokens are those that IBM/spnl 0.22 makes of it
/// (spnl::promptTokens), where no message is empty; but what the template puts before a first message stands
/// before all marks and is never cropped, and replies stand there as they were sampled.
SpanTable layOut(const plan::Step& step, std::span<const StepOutput> outputs, MessageRenderer& renderer,
                 Visibility visibility);

/// The exact layout of a single prompt.
SpanTable layoutExact(const plan::Step& step, std::span<const StepOutput> outputs,
                      const text::Tokenizer& tokenizer, const text::ChatTemplate& chat,
                      Visibility visibility);

}  // namespace spanscope::layout
