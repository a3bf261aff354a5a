// SPDX-License-Identifier: GPL-3.0-or-later
// Merges as sentencepiece makes them, for the odd models that the tables of byte pairs cannot stand for: with
// pieces that are not used, which fall apart again, or with characters in pieces that are none themselves. A
// text is cut where no piece can lie across, for merging takes many times the text's memory.
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
  /// The markers of the model must have the type Control.
  explicit SentencePieceMerges(const SentencePieceModel& model);

  /// Number of leading bytes of `text` that can be encoded on their own: about `wanted`, or more if there is
  /// no earlier place for a cut. `text` must be valid UTF-8 and not empty. If the model has unused pieces, it
  /// is the whole text: how such a piece falls apart depends on its other occurrences in the text.
  std::size_t partLength(std::string_view text, std::size_t wanted, const std::stop_token& stop) const;

  /// Writes the ids that the library would give for `text`, which must be valid UTF-8. Throws Failure on a
  /// stop.
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
