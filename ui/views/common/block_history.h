// SPDX-License-Identifier: GPL-3.0-or-later
// Records which events changed each physical block over a trace. The history has facts that the state at one
// moment lacks: when a block was stored, and which content was lost since.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/pool_state.h"
#include "ui/session/trace_store.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::ui {

class BlockHistory {
 public:
  /// Reads the trace on to its end, or from its beginning if it is another trace. The time grows with the
  /// number of new events.
  void follow(const std::shared_ptr<const TraceStore>& trace);

  /// The index of the last event before `position` that stored or extended the block's current content.
  /// Nothing if the content was stored before the trace began, or is lost by then.
  std::optional<std::size_t> storedAt(BlockId block, std::size_t position) const;
  /// The index of the last event before `position` that allocated or shared the block.
  std::optional<std::size_t> usedAt(BlockId block, std::size_t position) const;
  /// The first event before `position` that took the content of `request` from the block. This event evicted
  /// or cleared the block, or gave the block to another request. Only events after the request last allocated
  /// or shared the block count. Nothing if there is no such event.
  std::optional<std::size_t> lostAt(BlockId block, RequestId request, std::size_t position) const;

 private:
  enum class Change : std::uint8_t { Stored, Shared, Allocated, Lost };
  struct BlockEvent {
    std::size_t event = 0;
    RequestId request = 0;
    Change change = Change::Stored;
  };
  struct Block {
    trace::BlockKey key;  ///< key after the last event read; zero: lookups cannot find the block
    std::vector<BlockEvent> entries;
  };

  void note(std::size_t index);
  void replacePool(std::size_t index, const trace::PoolState& pool);
  Block& at(BlockId block);
  const std::vector<BlockEvent>* entries(BlockId block) const;
  std::optional<std::size_t> last(BlockId block, std::size_t position, bool stored) const;

  std::shared_ptr<const TraceStore> m_trace;  ///< kept alive, so that no other trace can get its address
  std::size_t m_read = 0;
  std::vector<Block> m_blocks;  ///< by block id
};

}  // namespace spanscope::ui
