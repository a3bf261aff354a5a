// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/eviction_memory.h"

namespace spanscope::cache {

void EvictionMemory::remember(const trace::BlockKey& key, std::uint64_t sequence) {
  m_sequences[key] = sequence;
  m_order.push_back({key, sequence});
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

}  // namespace spanscope::cache
