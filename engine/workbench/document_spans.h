// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/layouts.h"
#include "engine/layout/span_table.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// A document as the spans that it is in a query which has it as the text of a user's message under plus:
/// one, or two where the chat template writes the first message of a conversation in another way. Each is a
/// prompt of its own. As a layout has it in blocks of so many tokens, padded where a marker follows. Throws
/// Failure for a text that cannot be encoded.
std::vector<layout::SpanTable> documentSpans(const std::string& text, const text::Tokenizer& tokenizer,
                                             const text::ChatTemplate& chat,
                                             layout::Layout layout = layout::Layout::Exact,
                                             std::int32_t blockSize = 1);

}  // namespace spanscope::workbench
