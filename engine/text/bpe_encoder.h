// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-pair encoding of the words of one text. Each step joins the pair of units with the lowest rank. Of
// equal pairs, the leftmost pair is joined. The file also has the tables of byte-pair encoding. The tables
// have the units of a word before any merge, and the possible merges. Open this file to change the speed of
// encoding, or how a vocabulary is looked up.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/text/piece_table.h"
#include "engine/text/stop.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::text {

// A hash map from numbers to small values in one array. Tokenizers look up a pair of ids several times per
// byte of a text. With std::unordered_map, most of this time would go to its nodes.

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

  std::vector<Place> m_places;  ///< the number of entries is a power of two
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
  /// Adds a piece to the results of encoding. `spelling`: the bytes of the piece in a word. Encoding yields
  /// only added pieces.
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

  /// Returns the piece of a byte or of a character, or −1. The model has either byte units or character
  /// units.
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

// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster Algorithms for the Shortest Path Problem", 1990).
// This queue pops the smallest rank first, and for equal ranks the smallest place. The queue is fast if most
// pushed ranks are higher than the last popped rank. Unlike a binary heap, the queue reads its memory in
// order. This order matters for queues of millions of entries.

class RisingQueue {
 public:
  struct Entry {
    std::uint32_t rank = 0;
    std::uint32_t place = 0;
    auto operator<=>(const Entry&) const = default;
  };

  bool empty() const { return m_size == 0; }
  /// Drops the popped entries. The queue must be empty.
  void restart() {
    m_base = 0;
    m_hasPopped = false;
  }

  void push(Entry entry) {
    ++m_size;
    if (entry.rank > m_base || !m_hasPopped) {
      m_buckets[bucketOf(entry.rank)].push_back(entry);
    } else {
      m_late.push_back(entry);
      std::push_heap(m_late.begin(), m_late.end(), std::greater<>());
    }
  }

  /// The queue must not be empty.
  Entry pop() {
    --m_size;
    if (m_next == m_batch.size() && m_late.empty()) refill();
    if (m_late.empty() || (m_next < m_batch.size() && m_batch[m_next] < m_late.front()))
      return m_batch[m_next++];
    std::pop_heap(m_late.begin(), m_late.end(), std::greater<>());
    const Entry entry = m_late.back();
    m_late.pop_back();
    return entry;
  }

 private:
  /// Returns the highest bit in which a rank and the batch's rank differ, or 0 for equal ranks. Entries stay
  /// in their bucket until this bucket is the first. Until then, the ranks of these entries equal the rank of
  /// the batch in all higher bits.
  std::size_t bucketOf(std::uint32_t rank) const {
    return static_cast<std::size_t>(std::bit_width(rank ^ m_base));
  }

  /// Moves the entries of the lowest rank into the batch. The other entries of the same bucket move to
  /// earlier buckets.
  void refill() {
    const auto bucket = std::ranges::find_if(m_buckets, [](const auto& entries) { return !entries.empty(); });
    const std::uint32_t rank = std::ranges::min_element(*bucket, {}, &Entry::rank)->rank;
    m_spread.swap(*bucket);
    m_base = rank;
    m_hasPopped = true;
    m_batch.clear();
    m_next = 0;
    for (const Entry& entry : m_spread)
      (entry.rank == rank ? m_batch : m_buckets[bucketOf(entry.rank)]).push_back(entry);
    m_spread.clear();
    if (!std::ranges::is_sorted(m_batch)) std::ranges::sort(m_batch);
  }

  std::vector<Entry> m_batch;  ///< all of one rank, in order
  std::size_t m_next = 0;      ///< first entry of the batch that was not popped
  std::vector<Entry> m_late;   ///< a heap of entries whose rank was not above the batch's rank when pushed
  std::array<std::vector<Entry>, 33> m_buckets;
  std::vector<Entry> m_spread;  ///< a bucket that is being distributed
  std::uint32_t m_base = 0;     ///< the rank of the batch; no rank in a bucket is lower
  bool m_hasPopped = false;
  std::size_t m_size = 0;
};

// Caches the ids of words of one text. Most words of a text occur many times.

/// A cache of a fixed size. A word replaces another word with the same hash.
class WordCache {
 public:
  /// Longer words, and words of more ids, are not cached.
  static constexpr std::size_t kMostBytes = 22;
  static constexpr std::size_t kMostIds = 10;

  /// `textBytes` is the length of the text. The cache uses at most half a megabyte, and less for a short
  /// text.
  explicit WordCache(std::size_t textBytes)
      : m_entries(std::bit_ceil(std::clamp<std::size_t>(textBytes / kBytesPerEntry, 1, kMostEntries))) {}

  /// Finds a word of at most kMostBytes. Empty if the word is not cached.
  std::span<const TokenId> find(std::string_view word) const {
    const Entry& entry = m_entries[placeOf(word)];
    if (entry.bytes != word.size() || std::memcmp(entry.word.data(), word.data(), word.size()) != 0)
      return {};
    return {entry.ids.data(), entry.count};
  }

  void keep(std::string_view word, std::span<const TokenId> ids) {
    if (word.size() > kMostBytes || ids.size() > kMostIds) return;
    Entry& entry = m_entries[placeOf(word)];
    entry.bytes = static_cast<std::uint8_t>(word.size());
    entry.count = static_cast<std::uint8_t>(ids.size());
    std::ranges::copy(word, entry.word.begin());
    std::ranges::copy(ids, entry.ids.begin());
  }

 private:
  static constexpr std::size_t kBytesPerEntry = 16;
  static constexpr std::size_t kMostEntries = 8192;

  /// An entry has the size of a cache line of a processor.
  struct Entry {
    std::uint8_t bytes = 0;  ///< 0: free
    std::uint8_t count = 0;
    std::array<char, kMostBytes> word{};
    std::array<TokenId, kMostIds> ids{};
  };
  static_assert(sizeof(Entry) == 64);

  std::size_t placeOf(std::string_view word) const { return hash64(word) & (m_entries.size() - 1); }

  std::vector<Entry> m_entries;
};

class BpeEncoder {
 public:
  /// All arguments must outlive the encoder. `textBytes` is the approximate length of the text.
  BpeEncoder(const BpeModel& model, std::size_t textBytes, const std::stop_token& stop, IdOutput& ids)
      : m_model(&model), m_ids(&ids), m_poll(stop), m_cache(textBytes) {}

  /// Writes the ids of one word, which must be valid UTF-8. Takes O(n log n) steps. The memory depends on the
  /// longest section whose neighbouring units can all be joined. Throws Failure for a unit without a piece,
  /// and when the job is stopped.
  void encodeWord(std::string_view word);

 private:
  /// A piece of a long section, and its merge with the next piece.
  struct Link {
    TokenId id = -1;
    TokenId joined = -1;
    std::uint32_t rank = 0;  ///< of the merge with the next piece; the largest number if there is none
    std::uint32_t previous = 0;
    std::uint32_t next = 0;
  };

  /// Calls `take` for each unit of a word, in order, with the offset of its character.
  template <class Take>
  void forEachUnit(std::string_view word, const Take& take);
  void encodeStretch(std::string_view stretch);
  void give(std::span<const TokenId> ids);
  void join();
  void joinFew();
  void joinMany();
  void consider(std::uint32_t left);

  const BpeModel* m_model;
  IdOutput* m_ids;
  StopPoll m_poll;
  WordCache m_cache;
  std::vector<TokenId> m_units;  ///< of the section
  std::vector<BpeModel::Merge> m_joints;
  std::vector<Link> m_links;
  RisingQueue m_candidates;  ///< places are those of the left pieces in m_links
};

}  // namespace spanscope::text
