// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the best way through a text for a unigram model. The library that sets the standard adds up scores
// from the beginning of the text, so a part of the text may get other pieces alone than within the whole. So
// all of it is one way, with the same sums, which is taken bit by bit.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/piece_table.h"
#include "engine/text/piece_trie.h"
#include "engine/text/sentencepiece_model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// For a model that chooses the pieces with the greatest sum of scores
/// (SentencePieceModel::Algorithm::Unigram).
class SentencePieceUnigram {
 public:
  /// The markers of the model must have the type Control.
  explicit SentencePieceUnigram(const SentencePieceModel& model);

  /// Writes the ids that the library would give for `text`, which must be valid UTF-8 without the mark of a
  /// space. Throws Failure on a stop. It looks at the text only up to the next place that no piece lies
  /// across.
  void encode(std::string_view text, const std::stop_token& stop, IdOutput& ids) const;

 private:
  /// The best way to one place in the text.
  struct Arrival {
    TokenId id = -1;
    float score = 0;
    std::uint32_t length = 0;  ///< bytes of the last piece of the way; 0: there is no way yet
  };
  class Way;

  PieceTrie m_trie;              ///< spaces are written as they are
  std::vector<double> m_scores;  ///< by id: what a piece adds to the sum
  std::array<TokenId, 256> m_byteIds{};
  TokenId m_unknown = -1;
  float m_unknownScore = 0;
  bool m_byteFallback = false;
};

}  // namespace spanscope::text
