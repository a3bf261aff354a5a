// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/checkpoint/gguf/gguf_metadata.h"
#include "engine/text/tokenizer.h"

#include <memory>

namespace spanscope::text {

/// Makes the tokenizer of a GGUF file: byte-level BPE (`tokenizer.ggml.model` "gpt2", with a known
/// `tokenizer.ggml.pre`) or sentencepiece with scores ("llama"). Throws Failure for other kinds, for an
/// unknown pre-tokenizer, and for anything missing: a guess would give wrong ids.
std::unique_ptr<Tokenizer> makeGgufTokenizer(const checkpoint::GgufMetadata& metadata);

}  // namespace spanscope::text
