// SPDX-License-Identifier: GPL-3.0-or-later
// Tokenizers of a tokenizer.json whose model is Unigram or WordPiece. Open this file when such a model
// encodes a word wrongly.
#pragma once

#include "engine/text/pipeline_tokenizer.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::text {

/// Encodes a word as its most likely pieces. The probability of a sequence is the product of its pieces.
struct UnigramDescription : PipelineDescription {
  std::vector<std::pair<std::string, double>> pieces;  ///< by id; with the logarithm of the probability
  std::optional<TokenId> unknown;
  bool byteFallback = false;
};

/// Encodes a word from left to right. Each piece is the longest piece of the vocabulary that fits.
struct WordPieceDescription : PipelineDescription {
  std::vector<std::pair<std::string, TokenId>> vocabulary;
  std::string unknownPiece = "[UNK]";     ///< for a whole word that does not divide into pieces
  std::string continuationPrefix = "##";  ///< of all pieces of a word except the first
  std::size_t longestWord = 100;          ///< characters; a longer word is unknown
};

/// Errors name `file`. `place` is the place of the vocabulary in the file. Throw Failure if the description
/// contradicts itself.
std::unique_ptr<Tokenizer> makeUnigramTokenizer(UnigramDescription description, const std::string& file,
                                                const std::string& place);
std::unique_ptr<Tokenizer> makeWordPieceTokenizer(WordPieceDescription description, const std::string& file,
                                                  const std::string& place);

}  // namespace spanscope::text
