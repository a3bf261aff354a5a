// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the tokenizer of a GGUF file. Open this file when the tokenizer of a GGUF file is refused.
#pragma once

#include "engine/checkpoint/gguf/gguf_metadata.h"
#include "engine/text/tokenizer.h"

#include <memory>

namespace spanscope::text {

/// Makes the tokenizer of a GGUF file. Throws Failure for other kinds, for an unknown pre-tokenizer, and for
/// missing keys. A guess would give wrong ids. Supported kinds of `tokenizer.ggml.model`:
/// - byte-level BPE ("gpt2"), with a known `tokenizer.ggml.pre`;
/// - sentencepiece with scores ("llama").
std::unique_ptr<Tokenizer> makeGgufTokenizer(const checkpoint::GgufMetadata& metadata);

}  // namespace spanscope::text
