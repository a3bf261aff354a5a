// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/store/host_store.h"

#include <iterator>
#include <utility>

namespace spanscope::cache {

std::uint64_t HostStore::bytesOf(const HeldBlock& block) {
  // Nodes of the list and of the table, and the overhead of the allocator.
  constexpr std::uint64_t kBesides = sizeof(HeldBlock) + sizeof(ContentName) + 128;
  return block.size() + kBesides;
}

HostStore HostStore::forecast() const {
  HostStore copy(m_limit);
  copy.m_bytes = m_bytes;
  copy.m_tokens = m_tokens;
  for (const HeldBlock& block : m_order) {
    HeldBlock& copied = copy.m_order.emplace_back(block);
    copied.foretoldSize = block.size();
    copied.bytes.reset();
    copy.m_blocks.emplace(copied.facts.name, std::prev(copy.m_order.end()));
  }
  return copy;
}

std::vector<HeldBlock> HostStore::put(HeldBlock block) {
  std::vector<HeldBlock> gone;
  const std::uint64_t size = bytesOf(block);
  if (const auto found = m_blocks.find(block.facts.name); found != m_blocks.end()) {
    found->second->usedAt = block.usedAt;
    m_order.splice(m_order.begin(), m_order, found->second);
    return gone;
  }
  if (size > m_limit) {
    gone.push_back(std::move(block));
    return gone;
  }
  while (m_bytes + size > m_limit) {
    HeldBlock& last = m_order.back();
    m_bytes -= bytesOf(last);
    m_tokens -= static_cast<std::uint64_t>(last.facts.tokens);
    m_blocks.erase(last.facts.name);
    gone.push_back(std::move(last));
    m_order.pop_back();
  }
  m_bytes += size;
  m_tokens += static_cast<std::uint64_t>(block.facts.tokens);
  m_order.push_front(std::move(block));
  m_blocks.emplace(m_order.front().facts.name, m_order.begin());
  return gone;
}

const HeldBlock* HostStore::find(const ContentName& name) const {
  const auto found = m_blocks.find(name);
  return found == m_blocks.end() ? nullptr : &*found->second;
}

std::optional<StoredBytes> HostStore::fetch(const ContentName& name, const ContentName& parent,
                                            std::int32_t tokens, std::int64_t now) {
  const auto found = m_blocks.find(name);
  if (found == m_blocks.end()) return std::nullopt;
  HeldBlock& block = *found->second;
  if (block.facts.parent != parent || block.facts.tokens != tokens) return std::nullopt;
  block.usedAt = now;
  m_order.splice(m_order.begin(), m_order, found->second);
  return StoredBytes{
      .facts = block.facts,
      .tier = trace::StoreTier::Host,
      .bytes = block.bytes ? std::span<const std::byte>(*block.bytes) : std::span<const std::byte>(),
      .holder = block.bytes};
}

void HostStore::clear() {
  m_blocks.clear();
  m_order.clear();
  m_bytes = 0;
  m_tokens = 0;
}

}  // namespace spanscope::cache
