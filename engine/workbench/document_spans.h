// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/span_table.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <string>
#include <vector>

namespace spanscope::workbench {

/// A document as the spans that it is in a query which has it as the text of a user's message under plus:
/// one, or two where the chat template writes the first message of a conversation in another way. Each is a
/// prompt of its own. Throws Failure for a text that cannot be encoded.
std::vector<layout::SpanTable> documentSpans(const std::string& text, const text::Tokenizer& tokenizer,
                                             const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
