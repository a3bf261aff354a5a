// SPDX-License-Identifier: GPL-3.0-or-later
// Byte-pair encoding of the words of one text. Each step joins the pair of units with the lowest rank. Of
// equal pairs, it joins the leftmost. Open this file to change the speed of encoding.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/text/bpe_model.h"
#include "engine/text/piece_table.h"
#include "engine/text/stop.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

namespace spanscope::text {

// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster Algorithms for the Shortest Path Problem", 1990).
// This queue pops the smallest rank first, and for equal ranks the smallest place. It is fast if most pushed
// ranks are higher than the last popped rank. Unlike a binary heap, it reads its memory in order. This
// matters for queues of millions of entries.

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
  /// in their bucket until it is the first one. Until then, the batch differs from them in no higher bit.
  std::size_t bucketOf(std::uint32_t rank) const {
    return static_cast<std::size_t>(std::bit_width(rank ^ m_base));
  }

  /// Makes the entries of the lowest rank the batch. The other entries of their bucket move to earlier
  /// buckets.
  void refill() {
    const auto bucket = std::find_if(m_buckets.begin(), m_buckets.end(),
                                     [](const auto& entries) { return !entries.empty(); });
    const std::uint32_t rank =
        std::min_element(bucket->begin(), bucket->end(), [](const Entry& a, const Entry& b) {
          return a.rank < b.rank;
        })->rank;
    m_spread.swap(*bucket);
    m_base = rank;
    m_hasPopped = true;
    m_batch.clear();
    m_next = 0;
    for (const Entry& entry : m_spread)
      (entry.rank == rank ? m_batch : m_buckets[bucketOf(entry.rank)]).push_back(entry);
    m_spread.clear();
    if (!std::is_sorted(m_batch.begin(), m_batch.end())) std::sort(m_batch.begin(), m_batch.end());
  }

  std::vector<Entry> m_batch;  ///< all of one rank, in order
  std::size_t m_next = 0;      ///< first entry of the batch that was not popped
  std::vector<Entry> m_late;   ///< a heap of the entries that came too late for the buckets
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
    std::copy(word.begin(), word.end(), entry.word.begin());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
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
  /// longest stretch in which each two neighbours might be joined. Throws Failure for a unit that no piece
  /// covers, and on a stop.
  void encodeWord(std::string_view word);

 private:
  /// A piece of a long stretch, and its merge with the next piece.
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
  std::vector<TokenId> m_units;  ///< of the stretch
  std::vector<BpeModel::Merge> m_joints;
  std::vector<Link> m_links;
  RisingQueue m_candidates;  ///< places are those of the left pieces in m_links
};

}  // namespace spanscope::text
