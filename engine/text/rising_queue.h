// SPDX-License-Identifier: GPL-3.0-or-later
// A queue that gives the least rank first, and of equal ranks the least place. It is quick where what is
// pushed mostly ranks after what was popped: a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: Faster Algorithms
// for the Shortest Path Problem, 1990). Unlike a binary heap it walks through its memory in order, which
// counts where millions wait.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace spanscope::text {

class RisingQueue {
 public:
  struct Entry {
    std::uint32_t rank = 0;
    std::uint32_t place = 0;
    auto operator<=>(const Entry&) const = default;
  };

  bool empty() const { return m_size == 0; }
  /// Forgets what was popped. The queue must be empty.
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
  /// The highest bit in which a rank differs from that of the batch; 0 if it is the same. Those in a bucket
  /// stay in it until it is the first: until then the batch differs from them in no higher bit.
  std::size_t bucketOf(std::uint32_t rank) const {
    return static_cast<std::size_t>(std::bit_width(rank ^ m_base));
  }

  /// Makes the entries of the least rank the batch. The others of their bucket are spread over the buckets
  /// before it.
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
  std::size_t m_next = 0;      ///< first of the batch that was not popped
  std::vector<Entry> m_late;   ///< a heap of those that came too late for the buckets
  std::array<std::vector<Entry>, 33> m_buckets;
  std::vector<Entry> m_spread;  ///< a bucket while it is spread
  std::uint32_t m_base = 0;     ///< the rank of the batch; no rank in a bucket is less
  bool m_hasPopped = false;
  std::size_t m_size = 0;
};

}  // namespace spanscope::text
