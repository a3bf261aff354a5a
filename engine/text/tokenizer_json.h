// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the `tokenizer.json` of Hugging Face checkpoints: one file that describes a tokenizer completely.
#pragma once

#include "engine/text/tokenizer.h"

#include <memory>
#include <string>
#include <string_view>

namespace spanscope::text {

/// Most bytes of a tokenizer.json.
inline constexpr std::size_t kMaxTokenizerJsonBytes = std::size_t{128} << 20U;

/// Reads a tokenizer with the model type BPE. It supports the normalizers NFC, NFD, NFKC, NFKD, Prepend,
/// Replace and Sequence; the pre-tokenizers ByteLevel, Split, Digits, Metaspace and Sequence; and the
/// matching decoders. Truncation, padding and post-processor are not read: they do not change the ids of a
/// text, because the markers come from the chat template. Anything else throws Failure that names it, with
/// its line, column and JSON pointer: a partly understood tokenizer would give wrong ids.
std::unique_ptr<Tokenizer> makeJsonTokenizer(std::string_view bytes, const std::string& file);

}  // namespace spanscope::text
