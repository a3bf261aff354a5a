// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the `tokenizer.json` of Hugging Face checkpoints: one file that describes a tokenizer completely.
// Open this file when a tokenizer.json is refused.
#pragma once

#include "engine/text/tokenizer.h"

#include <memory>
#include <string>
#include <string_view>

namespace spanscope::text {

/// Max size in bytes of a tokenizer.json.
inline constexpr std::size_t kMaxTokenizerJsonBytes = std::size_t{128} << 20U;

/// Reads a tokenizer with the model type BPE. Truncation, padding and post-processor are not read. They do
/// not change the ids of a text, because the control pieces come from the chat template. Everything else
/// throws Failure with its name, line, column and JSON pointer. A partly understood tokenizer would give
/// wrong ids. Supported parts:
/// - the normalizers NFC, NFD, NFKC, NFKD, Prepend, Replace and Sequence;
/// - the pre-tokenizers ByteLevel, Split, Digits, Metaspace and Sequence;
/// - the matching decoders.
std::unique_ptr<Tokenizer> makeJsonTokenizer(std::string_view bytes, const std::string& file);

}  // namespace spanscope::text
