// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/block_pool.h"

#include <algorithm>
#include <stdexcept>

namespace spanscope::cache {

BlockPool::BlockPool(std::int32_t count) {
  if (count < 1) throw std::logic_error("a block pool needs a null block");
  m_blocks.resize(static_cast<std::size_t>(count));
  reset();
}

const BlockPool::Block& BlockPool::at(BlockId block) const {
  if (block <= kNullBlock || block >= count()) throw std::logic_error("no such block");
  return m_blocks[static_cast<std::size_t>(block)];
}

BlockId BlockPool::after(BlockId block) const {
  const Block& entry = at(block);
  if (entry.references != 0) throw std::logic_error("the block is not free");
  return entry.next;
}

BlockId BlockPool::take() {
  const BlockId block = front();
  if (block == kNullBlock) throw std::logic_error("no free block");
  share(block);
  return block;
}

std::int32_t BlockPool::share(BlockId block) {
  if (at(block).references == 0) unlink(block);
  return ++m_blocks[static_cast<std::size_t>(block)].references;
}

std::int32_t BlockPool::release(BlockId block, FreeEnd end) {
  if (at(block).references == 0) throw std::logic_error("the block is not referenced");
  const std::int32_t references = --m_blocks[static_cast<std::size_t>(block)].references;
  if (references == 0) {
    if (end == FreeEnd::Front) {
      linkBetween(kNullBlock, block, m_blocks[kNullBlock].next);
    } else {
      linkBetween(m_blocks[kNullBlock].previous, block, kNullBlock);
    }
  }
  return references;
}

std::vector<BlockId> BlockPool::freeOrder() const {
  std::vector<BlockId> order;
  order.reserve(static_cast<std::size_t>(m_freeCount));
  for (BlockId block = front(); block != kNullBlock; block = m_blocks[static_cast<std::size_t>(block)].next) {
    order.push_back(block);
  }
  return order;
}

void BlockPool::reset() {
  for (BlockId block = 1; block < count(); ++block) {
    if (at(block).references != 0) throw std::logic_error("a block is still referenced");
  }
  m_freeCount = 0;
  m_blocks[kNullBlock] = Block{};
  for (BlockId block = 1; block < count(); ++block) {
    linkBetween(m_blocks[kNullBlock].previous, block, kNullBlock);
  }
}

void BlockPool::unlink(BlockId block) {
  Block& entry = m_blocks[static_cast<std::size_t>(block)];
  m_blocks[static_cast<std::size_t>(entry.previous)].next = entry.next;
  m_blocks[static_cast<std::size_t>(entry.next)].previous = entry.previous;
  entry.previous = kNullBlock;
  entry.next = kNullBlock;
  --m_freeCount;
}

void BlockPool::linkBetween(BlockId previous, BlockId block, BlockId next) {
  Block& entry = m_blocks[static_cast<std::size_t>(block)];
  entry.previous = previous;
  entry.next = next;
  m_blocks[static_cast<std::size_t>(previous)].next = block;
  m_blocks[static_cast<std::size_t>(next)].previous = block;
  ++m_freeCount;
}

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
