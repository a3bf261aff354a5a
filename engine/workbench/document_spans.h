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

/// The spans that a document becomes in a query that has the document's text as a user message under plus.
/// There are two if the chat template writes the first message of a conversation differently, otherwise one.
/// Each is a prompt of its own, in the given layout and block size, padded if a marker follows. Throws
/// Failure if the text cannot be encoded.
std::vector<layout::SpanTable> documentSpans(const std::string& text, const text::Tokenizer& tokenizer,
                                             const text::ChatTemplate& chat,
                                             layout::Layout layout = layout::Layout::Exact,
                                             std::int32_t blockSize = 1);

}  // namespace spanscope::workbench
