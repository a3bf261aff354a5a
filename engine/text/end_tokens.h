// SPDX-License-Identifier: GPL-3.0-or-later
// What a tokenizer's files and a chat template say ends a reply; the model's own files say it too.
#pragma once

#include "engine/base/end_token.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace spanscope::text {

/// Adds the eos_token of tokenizer_config.json and special_tokens_map.json (a text, an object with "content",
/// or a list of them) and, where a GGUF file is the tokenizer, its eos, eot and eom ids. `vocabularySize` is
/// the model's. Throws Failure with file and place for a piece that the tokenizer lacks and for an id that
/// the model cannot say.
void addTokenizerEndTokens(const std::filesystem::path& directory, const Tokenizer& tokenizer,
                           std::int32_t vocabularySize, std::vector<EndToken>& tokens);

/// Adds the control piece with which the template begins to close a reply, if it is one and the tokenizer has
/// it. Throws Failure for an id that the model cannot say.
void addClosingPiece(const ChatTemplate& chat, const Tokenizer& tokenizer, std::int32_t vocabularySize,
                     std::vector<EndToken>& tokens);

}  // namespace spanscope::text
