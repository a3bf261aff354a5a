// SPDX-License-Identifier: GPL-3.0-or-later
// What the merges of a sentencepiece model say of places where a text may be cut. The library takes a text as
// a whole, with a hundred times its memory and deaf to whoever asks it to stop; parts of a text it encodes as
// it would the whole where no piece can lie across the cut.
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

/// Of a model that merges pairs (SentencePieceModel::Algorithm::Bpe).
class SentencePieceMerges {
 public:
  /// The model as the library is given it: markers have the type Control.
  explicit SentencePieceMerges(const SentencePieceModel& model);

  /// How many bytes of `text`, which is valid UTF-8 and not empty, can be encoded by themselves: about
  /// `wanted`, or more where there is no place for a cut before. All of it where the model has pieces that
  /// are not used: what they fall apart into depends on where else the text has them.
  std::size_t partLength(std::string_view text, std::size_t wanted, const std::stop_token& stop) const;

  /// Gives the ids that the library would of valid UTF-8. For parts that are long: unlike the library it
  /// throws Failure on a stop.
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
  std::unordered_set<std::uint64_t> m_pairs;  ///< characters side by side in a piece
  std::unordered_set<char32_t> m_characters;  ///< that are pieces
  std::vector<std::string> m_userDefined;     ///< the longest first
  std::size_t m_longest = 0;                  ///< bytes of a piece
  std::array<TokenId, 256> m_bytes{};
  TokenId m_unknown = -1;
  bool m_byteFallback = false;
  bool m_canCut = true;
};

}  // namespace spanscope::text
