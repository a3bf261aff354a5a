// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/block_history.h"

#include <algorithm>
#include <variant>

namespace spanscope::ui {

void BlockHistory::follow(const std::shared_ptr<const TraceStore>& trace) {
  if (trace != m_trace || trace->size() < m_read) {
    m_trace = trace;
    m_read = 0;
    m_blocks.clear();
  }
  for (; m_read < m_trace->size(); ++m_read) note(m_read);
}

BlockHistory::Block& BlockHistory::at(BlockId block) {
  const auto index = static_cast<std::size_t>(std::max(0, block));
  if (index >= m_blocks.size()) m_blocks.resize(index + 1);
  return m_blocks[index];
}

const std::vector<BlockHistory::BlockEvent>* BlockHistory::entries(BlockId block) const {
  if (block < 0 || static_cast<std::size_t>(block) >= m_blocks.size()) return nullptr;
  return &m_blocks[static_cast<std::size_t>(block)].entries;
}

void BlockHistory::note(std::size_t index) {
  const trace::Event& event = m_trace->event(index);
  const auto add = [&](BlockId block, Change change) {
    at(block).entries.push_back({.event = index, .request = event.request, .change = change});
  };
  if (const auto* stored = std::get_if<trace::BlockStored>(&event.payload)) {
    add(stored->block, Change::Stored);
    at(stored->block).key = stored->key;
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
    add(shared->block, Change::Shared);
  } else if (const auto* allocated = std::get_if<trace::BlockAllocated>(&event.payload)) {
    add(allocated->block, Change::Allocated);
  } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload)) {
    // A partial block that grows keeps its content.
    if (removed->reason != trace::RemovalReason::Grown) add(removed->block, Change::Lost);
    at(removed->block).key = {};
  } else if (std::holds_alternative<trace::CacheCleared>(event.payload)) {
    for (std::size_t block = 0; block < m_blocks.size(); ++block) {
      if (m_blocks[block].key != trace::BlockKey{}) add(static_cast<BlockId>(block), Change::Lost);
      m_blocks[block].key = {};
    }
  } else if (const auto* session = std::get_if<trace::SessionStarted>(&event.payload)) {
    replacePool(index, session->pool);
  } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&event.payload)) {
    replacePool(index, snapshot->pool);
  }
}

void BlockHistory::replacePool(std::size_t index, const trace::PoolState& pool) {
  if (pool.blocks.size() > m_blocks.size()) m_blocks.resize(pool.blocks.size());
  for (std::size_t block = 0; block < m_blocks.size(); ++block) {
    const trace::BlockKey key = block < pool.blocks.size() ? pool.blocks[block].key : trace::BlockKey{};
    Block& own = m_blocks[block];
    // The event that removed the content is unknown, but the content is gone by now.
    if (own.key != trace::BlockKey{} && own.key != key) {
      own.entries.push_back({.event = index, .request = 0, .change = Change::Lost});
    }
    own.key = key;
  }
}

std::optional<std::size_t> BlockHistory::last(BlockId block, std::size_t position, bool stored) const {
  const std::vector<BlockEvent>* all = entries(block);
  if (all == nullptr) return std::nullopt;
  auto entry = std::lower_bound(all->begin(), all->end(), position,
                                [](const BlockEvent& own, std::size_t wanted) { return own.event < wanted; });
  while (entry != all->begin()) {
    --entry;
    if (stored && entry->change == Change::Lost) return std::nullopt;
    if (stored ? entry->change == Change::Stored
               : entry->change == Change::Shared || entry->change == Change::Allocated) {
      return entry->event;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> BlockHistory::storedAt(BlockId block, std::size_t position) const {
  return last(block, position, true);
}

std::optional<std::size_t> BlockHistory::usedAt(BlockId block, std::size_t position) const {
  return last(block, position, false);
}

std::optional<std::size_t> BlockHistory::lostAt(BlockId block, RequestId request,
                                                std::size_t position) const {
  const std::vector<BlockEvent>* all = entries(block);
  if (all == nullptr) return std::nullopt;
  auto entry = std::lower_bound(all->begin(), all->end(), position,
                                [](const BlockEvent& own, std::size_t wanted) { return own.event < wanted; });
  std::optional<std::size_t> lost;
  while (entry != all->begin()) {
    --entry;
    const bool taken = entry->change == Change::Allocated || entry->change == Change::Shared;
    if (taken && entry->request == request) break;
    if (entry->change == Change::Lost || entry->change == Change::Allocated) lost = entry->event;
  }
  return lost;
}

}  // namespace spanscope::ui
