// SPDX-License-Identifier: GPL-3.0-or-later
// The `tokenizer.json` of Hugging Face checkpoints: one file that says everything a tokenizer does.
#pragma once

#include "engine/text/tokenizer.h"

#include <memory>
#include <string>
#include <string_view>

namespace spanscope::text {

/// Most bytes of a tokenizer.json.
inline constexpr std::size_t kMaxTokenizerJsonBytes = std::size_t{128} << 20U;

/// Reads a tokenizer of the model type BPE. Understood are the normalizers NFC, NFD, NFKC, NFKD, Prepend,
/// Replace and Sequence; the pre-tokenizers ByteLevel, Split, Digits, Metaspace and Sequence; the decoders
/// that go with them. What a text becomes does not depend on truncation, padding and post-processor, which
/// are not read: markers are the chat template's. Anything else throws Failure naming it, with its line,
/// column and JSON pointer: a tokenizer that is half understood would give wrong ids.
std::unique_ptr<Tokenizer> makeJsonTokenizer(std::string_view bytes, const std::string& file);

}  // namespace spanscope::text
