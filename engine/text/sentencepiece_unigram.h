// SPDX-License-Identifier: GPL-3.0-or-later
// The best way through a text for a unigram model. The library takes a text as a whole, deaf to whoever asks
// it to stop, and adds up scores from its beginning, so that a part of a text has not always the pieces that
// it has in the whole: a long text is encoded here, bit by bit, with the same sums.
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

/// Of a model that chooses the pieces whose scores have the greatest sum
/// (SentencePieceModel::Algorithm::Unigram).
class SentencePieceUnigram {
 public:
  /// The model as the library is given it: markers have the type Control.
  explicit SentencePieceUnigram(const SentencePieceModel& model);

  /// Gives the ids that the library would of valid UTF-8. Unlike the library it throws Failure on a stop, and
  /// keeps no more of the text in view than up to the next place that no piece lies across.
  void encode(std::string_view text, const std::stop_token& stop, IdOutput& ids) const;

 private:
  /// Of the tree of spellings: its children are m_bytes and m_children from `first` on.
  struct Node {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    TokenId id = -1;  ///< of the piece that is spelled so far; −1: none
    float score = 0;
    bool isUserDefined = false;
  };
  /// The best way to a place in the text.
  struct Arrival {
    TokenId id = -1;
    float score = 0;
    std::uint32_t length = 0;  ///< of its last piece in bytes; 0: there is no way yet
  };
  class Way;

  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = 0;  ///< the root is nobody's child

  void plant(std::span<const SentencePiece* const> sorted, const SentencePiece* begin);
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;
  /// What a piece of `length` bytes adds to the sum.
  double scoreOf(const Node& piece, std::size_t length) const;

  std::vector<Node> m_nodes;
  std::vector<unsigned char> m_bytes;  ///< sorted within a node
  std::vector<std::uint32_t> m_children;
  std::array<TokenId, 256> m_byteIds{};
  TokenId m_unknown = -1;
  float m_unknownScore = 0;
  float m_greatestScore = 0;
  bool m_byteFallback = false;
};

}  // namespace spanscope::text
