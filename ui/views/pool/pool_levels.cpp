// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/pool/pool_levels.h"

#include "ui/views/common/csv_line.h"
#include "ui/views/common/number_text.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <variant>

namespace spanscope::ui {

void PoolLevels::follow(const std::shared_ptr<const TraceStore>& trace) {
  if (trace != m_trace) *this = PoolLevels();
  m_trace = trace;
  for (; m_read < trace->size(); ++m_read) {
    const trace::Payload& payload = trace->event(m_read).payload;
    const auto* removed = std::get_if<trace::BlockRemoved>(&payload);
    if (removed != nullptr && removed->reason == trace::RemovalReason::Evicted) m_evictions.push_back(m_read);
    if (!take(payload)) continue;
    m_now.event = m_read;
    m_mostUsed = std::max(m_mostUsed, m_now.used());
    m_levels.push_back(m_now);
  }
}

bool PoolLevels::take(const trace::Payload& payload) {
  if (const auto* allocated = std::get_if<trace::BlockAllocated>(&payload)) {
    set(allocated->block, 1, isCached(allocated->block));
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&payload)) {
    set(shared->block, shared->references, isCached(shared->block));
  } else if (const auto* released = std::get_if<trace::BlockReleased>(&payload)) {
    set(released->block, released->references, isCached(released->block));
  } else if (const auto* stored = std::get_if<trace::BlockStored>(&payload)) {
    set(stored->block, referencesOf(stored->block), true);
  } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&payload)) {
    set(removed->block, referencesOf(removed->block), false);
  } else if (std::holds_alternative<trace::CacheCleared>(payload)) {
    for (std::size_t block = 0; block < m_blocks.size(); ++block)
      set(static_cast<BlockId>(block), m_blocks[block].references, false);
  } else if (const auto* session = std::get_if<trace::SessionStarted>(&payload)) {
    setAll(session->pool);
  } else if (const auto* snapshot = std::get_if<trace::Snapshot>(&payload)) {
    setAll(snapshot->pool);
  } else {
    return false;
  }
  return true;
}

void PoolLevels::setAll(const trace::PoolState& pool) {
  m_blocks.assign(pool.blocks.size(), Block());
  m_now = PoolLevel();
  for (std::size_t i = 0; i < pool.blocks.size(); ++i) {
    m_blocks[i] = {.references = pool.blocks[i].references, .cached = pool.blocks[i].cached};
    if (i != static_cast<std::size_t>(kNullBlock)) count(m_blocks[i], 1);
  }
}

void PoolLevels::count(const Block& block, std::int32_t by) {
  std::int32_t& level = block.references > 1    ? m_now.shared
                        : block.references == 1 ? m_now.held
                        : block.cached          ? m_now.cached
                                                : m_now.free;
  level += by;
}

void PoolLevels::set(BlockId block, std::int32_t references, bool cached) {
  const auto index = static_cast<std::size_t>(block);
  if (block == kNullBlock || index >= m_blocks.size()) return;
  count(m_blocks[index], -1);
  m_blocks[index] = {.references = references, .cached = cached};
  count(m_blocks[index], 1);
}

bool PoolLevels::isCached(BlockId block) const {
  const auto index = static_cast<std::size_t>(block);
  return index < m_blocks.size() && m_blocks[index].cached;
}

std::int32_t PoolLevels::referencesOf(BlockId block) const {
  const auto index = static_cast<std::size_t>(block);
  return index < m_blocks.size() ? m_blocks[index].references : 0;
}

QString levelText(const PoolLevel& level) {
  const QString held = level.held == 1 ? tr("1 block held by one request")
                                       : tr("%1 blocks held by one request").arg(level.held);
  return tr("%1, %2 shared, %3 cached, %4 free")
      .arg(held)
      .arg(level.shared)
      .arg(level.cached)
      .arg(level.free);
}

QString poolLevelsCsv(const std::shared_ptr<const TraceStore>& trace) {
  PoolLevels levels;
  levels.follow(trace);
  QString text = csvLine({tr("event"), tr("time s"), tr("run"), tr("request"), tr("shared"), tr("held"),
                          tr("cached"), tr("free"), tr("evicted")});
  auto eviction = levels.evictions().begin();
  for (const PoolLevel& level : levels.levels()) {
    while (eviction != levels.evictions().end() && *eviction < level.event) ++eviction;
    const bool evicts = eviction != levels.evictions().end() && *eviction == level.event;
    const trace::Event& event = trace->event(level.event);
    text += csvLine({QString::number(level.event + 1), csvNumber(static_cast<double>(event.time) * 1e-9),
                     event.run == 0 ? QString() : QString::number(event.run),
                     event.request == 0 ? QString() : QString::number(event.request),
                     QString::number(level.shared), QString::number(level.held),
                     QString::number(level.cached), QString::number(level.free), evicts ? tr("1") : tr("0")});
  }
  return text;
}

}  // namespace spanscope::ui
