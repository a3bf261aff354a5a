// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-pair encoding of one word: pairs of its units are joined step by step. Each step joins the pair with
// the lowest rank; of equal pairs, the leftmost.
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
  /// How a word is spelled before any merge.
  enum class Units : std::uint8_t {
    Bytes,      ///< one piece per byte
    Characters  ///< one piece per character; a character without a piece is handled as the setters below say
  };

  explicit BpeModel(Units units) : m_units(units) { m_byteIds.fill(-1); }

  Units units() const { return m_units; }

  /// Adds a piece that text may become, with the bytes that stand for it in a word. Encoding yields only
  /// pieces that were added here.
  void addPiece(const std::string& spelling, TokenId id) { m_pieces.insert_or_assign(spelling, id); }
  /// `left` followed by `right` becomes `joined`. If a pair has two merges, the later one counts.
  void addMerge(TokenId left, TokenId right, std::uint32_t rank, TokenId joined) {
    m_merges.insert_or_assign(pairOf(left, right), Merge{rank, joined});
  }
  void reserve(std::size_t pieces, std::size_t merges) {
    m_pieces.reserve(pieces);
    m_merges.reserve(merges);
  }

  /// Sets pieces for single bytes, for characters that have no piece.
  void setByteFallback(const std::array<TokenId, 256>& ids) {
    m_byteFallback = true;
    m_byteIds = ids;
  }
  /// Sets the piece for everything else. If `fused`, a run of such characters becomes one piece.
  void setUnknown(TokenId id, bool fused) {
    m_unknown = id;
    m_fuseUnknown = fused;
  }
  /// Whether a word that is itself a piece stays whole, whatever the merges say.
  void setWholeWordsFirst(bool first) { m_wholeWordsFirst = first; }

  std::optional<TokenId> pieceId(std::string_view spelling) const;

  /// Call this after all merges were added.
  void finish();

  /// Writes the ids of one word, which must be valid UTF-8. Takes O(n log n) steps. The memory depends on the
  /// longest stretch between two places where nothing can be joined. Throws Failure for a unit that no piece
  /// covers, and on a stop.
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

  /// Calls `take` for each unit of a word, in order.
  template <class Take>
  void forEachUnit(std::string_view word, const std::stop_token& stop, const Take& take) const;
  /// Whether a merge can join a piece that ends with unit `left` and a piece that begins with unit `right`.
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
  std::unordered_set<std::uint64_t> m_meetings;  ///< pairs of units that are neighbours in a piece
  bool m_knowsMeetings = false;
};

}  // namespace spanscope::text
