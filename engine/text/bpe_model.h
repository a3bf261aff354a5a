// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-pair encoding of one word: its units are joined pair by pair, always the pair of lowest rank, of equal
// ones the leftmost.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/piece_table.h"

#include <array>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace spanscope::text {

class BpeModel {
 public:
  /// How a word that no merge has touched is spelled.
  enum class Units : std::uint8_t {
    Bytes,      ///< one piece a byte
    Characters  ///< one piece a character, with what follows where there is none
  };

  explicit BpeModel(Units units) : m_units(units) { m_byteIds.fill(-1); }

  Units units() const { return m_units; }

  /// A piece that text may become, by the bytes that stand for it in a word. A piece that is not added here
  /// is never made.
  void addPiece(const std::string& spelling, TokenId id) { m_pieces.insert_or_assign(spelling, id); }
  /// `left` and `right` side by side become `joined`. Of two merges of the same pair the later one counts.
  void addMerge(TokenId left, TokenId right, std::uint32_t rank, TokenId joined) {
    m_merges.insert_or_assign(pairOf(left, right), Merge{rank, joined});
  }
  void reserve(std::size_t pieces, std::size_t merges) {
    m_pieces.reserve(pieces);
    m_merges.reserve(merges);
  }

  /// Pieces for the bytes of characters that have none of their own.
  void setByteFallback(const std::array<TokenId, 256>& ids) {
    m_byteFallback = true;
    m_byteIds = ids;
  }
  /// The piece for what nothing else covers. With `fused` a run of such characters is one piece.
  void setUnknown(TokenId id, bool fused) {
    m_unknown = id;
    m_fuseUnknown = fused;
  }
  /// A word that is a piece stays whole, whatever the merges say.
  void setWholeWordsFirst(bool first) { m_wholeWordsFirst = first; }

  std::optional<TokenId> pieceId(std::string_view spelling) const;

  /// To be called when all merges were added.
  void finish();

  /// Gives the ids of one word, which is valid UTF-8. Takes O(n log n) steps, and memory for what lies
  /// between two places where nothing can be joined. Throws Failure for a unit that nothing covers, and on a
  /// stop.
  void encodeWord(std::string_view word, const std::stop_token& stop, IdOutput& ids) const;

 private:
  struct Merge {
    std::uint32_t rank = 0;
    TokenId joined = -1;
  };

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  static std::uint64_t pairOf(TokenId left, TokenId right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) | static_cast<std::uint32_t>(right);
  }

  /// Gives the units of a word in order.
  template <class Take>
  void forEachUnit(std::string_view word, const std::stop_token& stop, const Take& take) const;
  /// Whether a merge can join what ends with one unit and what begins with the next.
  bool canMeet(TokenId left, TokenId right) const {
    return !m_knowsMeetings || m_meetings.contains(pairOf(left, right));
  }
  void joinPairs(std::vector<TokenId>& pieces, const std::stop_token& stop) const;
  const Merge* findMerge(TokenId left, TokenId right) const;

  Units m_units;
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> m_pieces;
  std::unordered_map<std::uint64_t, Merge> m_merges;
  std::array<TokenId, 256> m_byteIds{};
  TokenId m_unknown = -1;
  bool m_byteFallback = false;
  bool m_fuseUnknown = false;
  bool m_wholeWordsFirst = false;
  std::unordered_set<std::uint64_t> m_meetings;  ///< units that stand side by side in a piece
  bool m_knowsMeetings = false;
};

}  // namespace spanscope::text
