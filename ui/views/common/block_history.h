// SPDX-License-Identifier: GPL-3.0-or-later
// What happened to each physical block over a trace, by event: for questions that the state at one moment
// does not answer (what was lost since, how old a block is).
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
  /// Reads on to the end of the trace; from its beginning where it is another one. Costs the new events.
  void follow(const std::shared_ptr<const TraceStore>& trace);

  /// Index of the last event before `position` that stored the block's present content or let it grow;
  /// nothing where it was stored before the trace began.
  std::optional<std::size_t> storedAt(BlockId block, std::size_t position) const;
  /// The last one that took or shared it.
  std::optional<std::size_t> usedAt(BlockId block, std::size_t position) const;
  /// The first event before `position`, after `request` took or shared the block, after which it does not
  /// hold any more what the request had in it: it was evicted, cleared, or given to another request.
  std::optional<std::size_t> lostAt(BlockId block, RequestId request, std::size_t position) const;

 private:
  enum class Change : std::uint8_t { Stored, Shared, Allocated, Lost };
  struct BlockEvent {
    std::size_t event = 0;
    RequestId request = 0;
    Change change = Change::Stored;
  };
  struct Block {
    trace::BlockKey key;  ///< at the end of what was read; zero: cannot be found
    std::vector<BlockEvent> entries;
  };

  void note(std::size_t index);
  void replacePool(std::size_t index, const trace::PoolState& pool);
  Block& at(BlockId block);
  const std::vector<BlockEvent>* entries(BlockId block) const;
  std::optional<std::size_t> last(BlockId block, std::size_t position, bool stored) const;

  std::shared_ptr<const TraceStore> m_trace;  ///< kept, so that another one cannot have its address
  std::size_t m_read = 0;
  std::vector<Block> m_blocks;  ///< by block id
};

}  // namespace spanscope::ui
