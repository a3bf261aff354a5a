// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/text/added_tokens.h"
#include "engine/text/bpe_model.h"
#include "engine/text/text_pipeline.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::text {

/// Limits of a vocabulary that a file declares.
inline constexpr std::size_t kMaxVocabulary = std::size_t{1} << 21U;
inline constexpr std::size_t kMaxMerges = std::size_t{1} << 22U;
inline constexpr std::size_t kMaxAddedTokens = std::size_t{1} << 17U;

/// What a file says about a tokenizer that encodes words by byte pairs, before it is checked as a whole.
struct BpeDescription {
  std::vector<std::pair<std::string, TokenId>> vocabulary;     ///< as spelled in the file
  std::vector<std::pair<std::string, std::string>> merges;     ///< by rank
  std::vector<AddedToken> addedTokens;                         ///< markers among them
  std::vector<std::unique_ptr<const Normalizer>> normalizers;  ///< in order
  std::vector<std::unique_ptr<const PreTokenizer>> preTokenizers;
  /// Words are bytes, each spelled as one printable character in the vocabulary (GPT-2's alphabet).
  bool byteLevel = false;
  std::string spaceMark;  ///< how a space is written in the vocabulary; empty for " "
  bool byteFallback = false;
  std::string unknownPiece;  ///< stands for what nothing else covers; empty for none
  bool fuseUnknown = false;
  bool wholeWordsFirst = false;
};

/// `file` is named in errors, `place` is where in it the vocabulary stands. Throws Failure where the
/// description contradicts itself or could lose text.
std::unique_ptr<Tokenizer> makeBpeTokenizer(BpeDescription description, const std::string& file,
                                            const std::string& place);

}  // namespace spanscope::text
