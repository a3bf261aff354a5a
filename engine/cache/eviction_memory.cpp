// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/eviction_memory.h"

#include <algorithm>

namespace spanscope::cache {

void EvictionMemory::remember(const trace::BlockKey& key, std::uint64_t sequence, std::uint64_t number) {
  m_sequences[key] = sequence;
  m_order.push_back({key, sequence, number});
  while (m_order.size() > m_capacity) {
    const Entry oldest = m_order.front();
    m_order.pop_front();
    const auto found = m_sequences.find(oldest.key);
    if (found != m_sequences.end() && found->second == oldest.sequence) m_sequences.erase(found);
  }
}

void EvictionMemory::forget(const trace::BlockKey& key) {
  m_sequences.erase(key);
}

std::optional<std::uint64_t> EvictionMemory::find(const trace::BlockKey& key) const {
  const auto found = m_sequences.find(key);
  if (found == m_sequences.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint64_t> EvictionMemory::numberOf(std::uint64_t sequence) const {
  const auto found = std::partition_point(
      m_order.begin(), m_order.end(), [sequence](const Entry& entry) { return entry.sequence < sequence; });
  if (found == m_order.end() || found->sequence != sequence) return std::nullopt;
  return found->number;
}

}  // namespace spanscope::cache
