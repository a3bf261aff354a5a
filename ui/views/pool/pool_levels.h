// SPDX-License-Identifier: GPL-3.0-or-later
// How full the pool is after every event that changes it, and which events evict.
#pragma once

#include "ui/session/trace_store.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace spanscope::ui {

/// The blocks of the pool after an event. The null block does not count; the four sum up to all others.
struct PoolLevel {
  std::size_t event = 0;    ///< index of the event that led to it
  std::int32_t shared = 0;  ///< blocks that several requests use
  std::int32_t held = 0;    ///< blocks that one request uses
  std::int32_t cached = 0;  ///< blocks that no request uses and a lookup can find
  std::int32_t free = 0;    ///< blocks that hold nothing
  std::int32_t used() const { return shared + held + cached; }
  bool operator==(const PoolLevel&) const = default;
};

/// Follows the pool through a whole trace. Following on takes time only for the new events.
class PoolLevels {
 public:
  void follow(const std::shared_ptr<const TraceStore>& trace);

  /// Where the pool changes, by event.
  const std::vector<PoolLevel>& levels() const { return m_levels; }
  /// Indices of the events that took a content from the pool to make room, ascending.
  const std::vector<std::size_t>& evictions() const { return m_evictions; }
  std::int32_t mostUsed() const { return m_mostUsed; }  ///< most blocks that held something at once
  std::int32_t blocks() const { return m_now.used() + m_now.free; }

 private:
  struct Block {
    std::int32_t references = 0;
    bool cached = false;
  };
  bool take(const trace::Payload& payload);
  void setAll(const trace::PoolState& pool);
  /// Counts a block, or with −1 no longer.
  void count(const Block& block, std::int32_t by);
  void set(BlockId block, std::int32_t references, bool cached);
  bool isCached(BlockId block) const;
  std::int32_t referencesOf(BlockId block) const;

  std::shared_ptr<const TraceStore> m_trace;
  std::size_t m_read = 0;
  std::vector<Block> m_blocks;
  PoolLevel m_now;
  std::int32_t m_mostUsed = 0;
  std::vector<PoolLevel> m_levels;
  std::vector<std::size_t> m_evictions;
};

/// "12 blocks held by one request, 3 shared, 40 cached, 1992 free"
QString levelText(const PoolLevel& level);
/// A line for each change.
QString poolLevelsCsv(const std::shared_ptr<const TraceStore>& trace);

}  // namespace spanscope::ui
