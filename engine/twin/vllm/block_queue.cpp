// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/twin/vllm/block_queue.h"

namespace spanscope::twin::vllm {

std::int64_t BlockQueue::size() const {
  return static_cast<std::int64_t>(m_first.size() + m_last.size()) + (m_end - m_fresh);
}

BlockId BlockQueue::take() {
  if (!m_first.empty()) {
    const BlockId block = m_first.back();
    m_first.pop_back();
    return block;
  }
  if (m_fresh < m_end) return m_fresh++;
  const auto oldest = m_last.begin();
  const BlockId block = oldest->second;
  m_last.erase(oldest);
  m_times.erase(block);
  return block;
}

void BlockQueue::takeOut(BlockId block) {
  const auto time = m_times.find(block);
  m_last.erase(time->second);
  m_times.erase(time);
}

void BlockQueue::giveBackFirst(std::span<const BlockId> blocks) {
  m_first.insert(m_first.end(), blocks.rbegin(), blocks.rend());
}

void BlockQueue::giveBackLast(BlockId block) {
  m_times[block] = m_now;
  m_last.emplace(m_now++, block);
}

}  // namespace spanscope::twin::vllm
