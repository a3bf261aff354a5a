// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the best way through a text for a unigram model. The library encodes a text as a whole and cannot be
// stopped. It adds up scores from the beginning of the text, so a part of the text may get other pieces alone
// than within the whole. So long texts are encoded here, bit by bit, with the same sums.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/piece_table.h"
#include "engine/text/sentencepiece_model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// For a model that chooses the pieces with the greatest sum of scores
/// (SentencePieceModel::Algorithm::Unigram).
class SentencePieceUnigram {
 public:
  /// The model must be the one that the library gets: its markers have the type Control.
  explicit SentencePieceUnigram(const SentencePieceModel& model);

  /// Writes the ids that the library would give for `text`, which must be valid UTF-8. Unlike the library, it
  /// throws Failure on a stop. It looks at the text only up to the next place that no piece lies across.
  void encode(std::string_view text, const std::stop_token& stop, IdOutput& ids) const;

 private:
  /// A node of the tree of spellings. Its children are the entries of m_bytes and m_children from `first` on.
  struct Node {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    TokenId id = -1;  ///< of the piece whose spelling ends here; −1: none
    float score = 0;
    bool isUserDefined = false;
  };
  /// The best way to one place in the text.
  struct Arrival {
    TokenId id = -1;
    float score = 0;
    std::uint32_t length = 0;  ///< bytes of the last piece of the way; 0: there is no way yet
  };
  class Way;

  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = 0;  ///< means no child: no node has the root as its child

  void plant(std::span<const SentencePiece* const> sorted, const SentencePiece* begin);
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;
  /// The score that a piece of `length` bytes adds to the sum.
  double scoreOf(const Node& piece, std::size_t length) const;

  std::vector<Node> m_nodes;
  std::vector<unsigned char> m_bytes;  ///< sorted within each node
  std::vector<std::uint32_t> m_children;
  std::array<TokenId, 256> m_byteIds{};
  TokenId m_unknown = -1;
  float m_unknownScore = 0;
  float m_greatestScore = 0;
  bool m_byteFallback = false;
};

}  // namespace spanscope::text
