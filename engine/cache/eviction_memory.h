// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/pool_state.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace spanscope::cache {

/// Remembers which event took a content out of the cache, for the last `capacity` contents. It only explains
/// misses, so a key is a sufficient name for a content.
class EvictionMemory {
 public:
  explicit EvictionMemory(std::size_t capacity = 65536) : m_capacity(capacity) {}

  /// `number`: a number that numberOf() returns later. Sequence numbers must not decrease.
  void remember(const trace::BlockKey& key, std::uint64_t sequence, std::uint64_t number = 0);
  /// Call this when the content is in the cache again.
  void forget(const trace::BlockKey& key);
  /// Sequence number of the event that took the content.
  std::optional<std::uint64_t> find(const trace::BlockKey& key) const;

  /// The `number` that was remembered with this event. Nothing if that was too long ago.
  std::optional<std::uint64_t> numberOf(std::uint64_t sequence) const;

  std::size_t size() const { return m_sequences.size(); }

 private:
  struct KeyHasher {
    std::size_t operator()(const trace::BlockKey& key) const {
      return static_cast<std::size_t>(key.low ^ (key.high * 0x9e3779b97f4a7c15U));
    }
  };
  struct Entry {
    trace::BlockKey key;
    std::uint64_t sequence = 0;
    std::uint64_t number = 0;
  };

  std::size_t m_capacity;
  std::unordered_map<trace::BlockKey, std::uint64_t, KeyHasher> m_sequences;
  std::deque<Entry> m_order;  ///< oldest first; an entry is stale if m_sequences has another sequence for its
                              ///< key
};

}  // namespace spanscope::cache
