// SPDX-License-Identifier: GPL-3.0-or-later
// Finds places where a text may be cut, from the merges of a sentencepiece model. The library encodes a text
// as a whole: it needs a hundred times the text's memory and cannot be stopped. If no piece can lie across a
// cut, the library encodes the parts of the text exactly as it would encode the whole.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/piece_table.h"
#include "engine/text/sentencepiece_model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace spanscope::text {

/// For a model that merges pairs (SentencePieceModel::Algorithm::Bpe).
class SentencePieceMerges {
 public:
  /// The model must be the one that the library gets: its markers have the type Control.
  explicit SentencePieceMerges(const SentencePieceModel& model);

  /// Number of leading bytes of `text` that can be encoded on their own: about `wanted`, or more if there is
  /// no earlier place for a cut. `text` must be valid UTF-8 and not empty. If the model has unused pieces, it
  /// is the whole text: how such a piece falls apart depends on its other occurrences in the text.
  std::size_t partLength(std::string_view text, std::size_t wanted, const std::stop_token& stop) const;

  /// Writes the ids that the library would give for `text`, which must be valid UTF-8. It is for long parts:
  /// unlike the library, it throws Failure on a stop.
  void encode(std::string_view text, const std::stop_token& stop, IdOutput& ids) const;

 private:
  struct Known {
    TokenId id = -1;
    float score = 0;
    bool isUsed = true;
  };
  struct Symbols;
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  bool isCut(char32_t before, char32_t after) const;
  const Known* find(std::string_view piece) const;
  std::size_t userDefinedLength(std::string_view text) const;
  void merge(Symbols& symbols, const std::stop_token& stop) const;
  void give(const Symbols& symbols, const std::stop_token& stop, IdOutput& ids) const;
  void givePiece(const Symbols& symbols, std::string_view piece, bool& lastUnknown, IdOutput& ids) const;

  std::unordered_map<std::string, Known, Hash, std::equal_to<>> m_pieces;
  std::unordered_set<std::uint64_t> m_pairs;  ///< pairs of characters that are neighbours in a piece
  std::unordered_set<char32_t> m_characters;  ///< characters that are pieces
  std::vector<std::string> m_userDefined;     ///< ordered by length, the longest first
  std::size_t m_longest = 0;                  ///< bytes of the longest piece
  std::array<TokenId, 256> m_bytes{};
  TokenId m_unknown = -1;
  bool m_byteFallback = false;
  bool m_canCut = true;
};

}  // namespace spanscope::text
