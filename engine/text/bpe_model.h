// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of byte-pair encoding: the units of a word before any merge, and the possible merges. Open this
// file to change how a vocabulary is looked up.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::text {

// A hash map from numbers to small values in one array. Tokenizers look up a pair of ids several times per
// byte of a text. The nodes of std::unordered_map would take most of their time.

template <class Value>
class FlatMap {
 public:
  /// Marks a free place. No key has this number.
  static constexpr std::uint64_t kFree = std::numeric_limits<std::uint64_t>::max();

  std::size_t size() const { return m_size; }

  /// Allocates space for this total number of entries.
  void reserve(std::size_t entries) {
    const std::size_t places = std::bit_ceil(std::max<std::size_t>(kLeastPlaces, entries * 2));
    if (places > m_places.size()) spread(places);
  }

  /// Replaces the value of the key.
  void set(std::uint64_t key, const Value& value) {
    reserve(m_size + 1);
    Place& place = m_places[placeOf(key)];
    if (place.key == kFree) ++m_size;
    place = {key, value};
  }

  /// Returns null if there is no entry. The pointer is valid until the next set().
  const Value* find(std::uint64_t key) const {
    if (m_size == 0) return nullptr;
    const Place& place = m_places[placeOf(key)];
    return place.key == kFree ? nullptr : &place.value;
  }
  bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  /// Calls `take` with key and value of each entry, in any order.
  template <class Take>
  void forEach(const Take& take) const {
    for (const Place& place : m_places) {
      if (place.key != kFree) take(place.key, place.value);
    }
  }

 private:
  struct Place {
    std::uint64_t key = kFree;
    Value value{};
  };
  static constexpr std::size_t kLeastPlaces = 16;

  /// Returns the place of the key, or the free place for the key. At least half of the places are free.
  std::size_t placeOf(std::uint64_t key) const {
    const std::size_t mask = m_places.size() - 1;
    std::size_t place = static_cast<std::size_t>((key * kGoldenGamma) >> m_shift);
    while (m_places[place].key != key && m_places[place].key != kFree) place = (place + 1) & mask;
    return place;
  }

  void spread(std::size_t places) {
    std::vector<Place> before(places);
    before.swap(m_places);
    m_shift = static_cast<unsigned>(std::countl_zero(places)) + 1;
    for (const Place& place : before) {
      if (place.key != kFree) m_places[placeOf(place.key)] = place;
    }
  }

  std::vector<Place> m_places;  ///< their number is a power of two
  std::size_t m_size = 0;
  unsigned m_shift = 0;
};

class BpeModel {
 public:
  /// The units of a word before any merge.
  enum class Units : std::uint8_t {
    Bytes,      ///< one piece per byte
    Characters  ///< one piece per character; the setters below define pieces for other characters
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

  /// Sets whether a word that is a piece stays whole, independent of the merges. Call this before addPiece().
  void setWholeWordsFirst(bool first) { m_wholeWordsFirst = first; }
  /// Adds a piece that text may become, with its bytes in a word. Encoding yields only pieces that were added
  /// here.
  void addPiece(const std::string& spelling, TokenId id);
  /// Joins `left` and a following `right` to `joined`. If a pair has two merges, the later one counts.
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

  /// Call this after all merges were added. Long words can then be encoded in sections.
  void finish();

  /// Returns the piece of a byte or of a character, or −1. The units of the model decide between both.
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
  /// Returns the piece of a whole word, independent of the merges.
  std::optional<TokenId> wholeWord(std::string_view word) const;
  /// Returns null if the pair cannot be joined.
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
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> m_words;  ///< words that stay whole
  FlatMap<Nothing> m_meetings;  ///< pairs of units that are neighbours in a piece
  bool m_knowsMeetings = false;
};

}  // namespace spanscope::text
