// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of byte-pair encoding: how a word is spelled before any merge, and which pairs can be joined.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/flat_map.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace spanscope::text {

class BpeModel {
 public:
  /// How a word is spelled before any merge.
  enum class Units : std::uint8_t {
    Bytes,      ///< one piece per byte
    Characters  ///< one piece per character; a character without a piece is handled as the setters below say
  };
  struct Merge {
    std::uint32_t rank = 0;
    TokenId joined = -1;
  };

  explicit BpeModel(Units units) : m_units(units) {
    m_firstUnits.fill(-1);
    m_byteIds.fill(-1);
  }

  Units units() const { return m_units; }

  /// Whether a word that is itself a piece stays whole, whatever the merges say. Call this before addPiece().
  void setWholeWordsFirst(bool first) { m_wholeWordsFirst = first; }
  /// Adds a piece that text may become, with the bytes that stand for it in a word. Encoding yields only
  /// pieces that were added here.
  void addPiece(const std::string& spelling, TokenId id);
  /// `left` followed by `right` becomes `joined`. If a pair has two merges, the later one counts.
  void addMerge(TokenId left, TokenId right, std::uint32_t rank, TokenId joined) {
    m_merges.set(pairOf(left, right), Merge{rank, joined});
  }
  void reserveMerges(std::size_t merges) { m_merges.reserve(merges); }

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

  /// Call this after all merges were added: then long words can be encoded part by part.
  void finish();

  /// The piece of a byte or of a character, as the units are; −1 if there is none.
  TokenId unitId(char32_t unit) const {
    if (unit < m_firstUnits.size()) return m_firstUnits[unit];
    const TokenId* id = m_otherUnits.find(unit);
    return id == nullptr ? -1 : *id;
  }
  bool hasByteFallback() const { return m_byteFallback; }
  TokenId byteId(unsigned char byte) const { return m_byteIds[byte]; }
  TokenId unknown() const { return m_unknown; }  ///< −1 if there is none
  bool fusesUnknown() const { return m_fuseUnknown; }

  bool takesWholeWordsFirst() const { return m_wholeWordsFirst; }
  /// The piece that a word is whatever the merges say.
  std::optional<TokenId> wholeWord(std::string_view word) const;
  /// Null if the pair cannot be joined.
  const Merge* findMerge(TokenId left, TokenId right) const { return m_merges.find(pairOf(left, right)); }
  /// Whether a merge can join a piece that ends with unit `left` and a piece that begins with unit `right`.
  bool canMeet(TokenId left, TokenId right) const {
    return !m_knowsMeetings || m_meetings.contains(pairOf(left, right));
  }

 private:
  struct Nothing {};
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  static std::uint64_t pairOf(TokenId left, TokenId right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32U) | static_cast<std::uint32_t>(right);
  }

  Units m_units;
  std::array<TokenId, 256> m_firstUnits{};
  FlatMap<TokenId> m_otherUnits;  ///< characters from 256 on
  FlatMap<Merge> m_merges;        ///< by pair
  std::array<TokenId, 256> m_byteIds{};
  TokenId m_unknown = -1;
  bool m_byteFallback = false;
  bool m_fuseUnknown = false;
  bool m_wholeWordsFirst = false;
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> m_words;  ///< that stay whole
  FlatMap<Nothing> m_meetings;  ///< pairs of units that are neighbours in a piece
  bool m_knowsMeetings = false;
};

}  // namespace spanscope::text
