// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the tokens that end an answer, from the tokenizer's files and the chat template. The model's own
// files also name such tokens. Open this file when an answer does not stop.
#pragma once

#include "engine/base/end_token.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <vector>

namespace spanscope::text {

/// Adds the eos_token of tokenizer_config.json and special_tokens_map.json. The value is a text, an object
/// with "content", or a list of texts or objects. If a GGUF file is the tokenizer, also adds its eos, eot and
/// eom ids. `vocabularySize` is the vocabulary size of the model. Throws Failure with file and place for a
/// piece that the tokenizer lacks. Throws Failure for an id outside of the model's vocabulary.
void addTokenizerEndTokens(const checkpoint::Checkpoint& checkpoint, const Tokenizer& tokenizer,
                           std::int32_t vocabularySize, std::vector<EndToken>& tokens);

/// Adds the first piece of the template's answer suffix, if this piece is a control piece of the tokenizer.
/// Throws Failure for an id outside of the model's vocabulary.
void addClosingPiece(const ChatTemplate& chat, const Tokenizer& tokenizer, std::int32_t vocabularySize,
                     std::vector<EndToken>& tokens);

}  // namespace spanscope::text
