// SPDX-License-Identifier: GPL-3.0-or-later
// Builds BPE tokenizers from a description, with checks. Open this file to add a source of BPE tokenizers.
#pragma once

#include "engine/text/bpe_encoder.h"
#include "engine/text/pipeline_tokenizer.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::text {

/// Limits for a vocabulary in a file.
inline constexpr std::size_t kMaxVocabulary = std::size_t{1} << 21U;
inline constexpr std::size_t kMaxMerges = std::size_t{1} << 22U;
inline constexpr std::size_t kMaxAddedTokens = std::size_t{1} << 17U;

/// A BPE tokenizer as a file describes it. makeBpeTokenizer() checks it.
struct BpeDescription : PipelineDescription {
  std::vector<std::pair<std::string, TokenId>> vocabulary;  ///< as in the file
  std::vector<std::pair<std::string, std::string>> merges;  ///< ordered by rank
  bool byteFallback = false;
  std::string unknownPiece;  ///< for text that no other piece covers; empty for none
  bool fuseUnknown = false;
  bool wholeWordsFirst = false;
};

/// Errors name `file`. `place` is the place of the vocabulary in the file. Throws Failure if the description
/// contradicts itself or could lose text.
std::unique_ptr<Tokenizer> makeBpeTokenizer(BpeDescription description, const std::string& file,
                                            const std::string& place);

// GPT-2's alphabet: one printable character for every byte. A vocabulary can therefore be written as text.

/// Returns the character for a byte, in UTF-8. Printable Latin-1 characters mean themselves. The other bytes,
/// in order of their values, are U+0100 and up (`encoder.py` of GPT-2).
std::string byteLetter(unsigned char byte);

/// Returns the bytes of a text in this alphabet. Returns nothing if it contains another character.
std::optional<std::string> bytesOfLetters(std::string_view letters);

}  // namespace spanscope::text
