// SPDX-License-Identifier: GPL-3.0-or-later
// Rebuilds the KV pool from its events. Open this file when a view of the pool is wrong.
#pragma once

#include "engine/base/error.h"
#include "engine/base/shared.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_state.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::trace {

/// The KV pool, rebuilt from its events. Copies of this object share the blocks that do not change. An event
/// takes constant time. CacheCleared and whole states take time proportional to the number of blocks. Except
/// for block 0, a block is in the free list exactly if the block is not in use. The rules:
/// - SessionStarted, Snapshot: the event replaces the state.
/// - BlockAllocated: a free block without a content gets one reference and leaves the free list.
/// - BlockShared: sets the references, one more than before. A free block leaves the free list.
/// - BlockStored: sets the content, stored by the event's run, request and node.
/// - BlockRemoved: clears the content.
/// - BlockReleased: sets the references, one fewer than before. At 0 references, the block joins the free
///   list. A block with a content joins at the back, any other block at the front.
/// - CacheCleared: clears all contents, and sorts the free list in ascending order. No block may be in use.
/// - BlockCopied and all other events change nothing.
class PoolReplay {
 public:
  /// Makes a pool without blocks, for a source that reports no pool.
  PoolReplay() = default;

  /// Throws Failure for an invalid state; see check().
  explicit PoolReplay(PoolState state);

  /// Returns the fault of a state, if any. Faults are negative references and a wrong free list. Another
  /// fault is a fill that does not match the tokens or the block size.
  static std::optional<Error> check(const PoolState& state);

  /// Applies an event. If the event contradicts the state, returns the error and changes nothing.
  std::optional<Error> apply(const Event& event);

  /// Returns the whole state with the order of the free list. Time and memory are proportional to the number
  /// of blocks.
  PoolState state() const;

  /// Returns the approximate memory that the pool needs in addition to `before`, an earlier state of the same
  /// pool. Memory that both states share does not count.
  std::uint64_t bytesBeside(const PoolReplay& before) const;

  std::size_t blockCount() const { return m_blocks.size(); }  ///< including the null block
  std::int32_t blockSize() const { return m_blockSize; }      ///< token slots
  const SharedVector<BlockState>& blocks() const { return m_blocks; }
  std::vector<BlockId> freeOrder() const;                    ///< from the front
  std::size_t freeCount() const { return m_freeCount; }      ///< blocks not in use, including cached ones
  std::size_t cachedCount() const { return m_cachedCount; }  ///< blocks that a lookup can find

 private:
  struct Applier;

  void rebuildLists(const std::vector<BlockId>& freeOrder);
  void leaveFreeList(BlockId block);
  void joinFreeList(BlockId block, bool atFront);
  void forget(std::size_t index);

  std::int32_t m_blockSize = 16;
  SharedVector<BlockState> m_blocks;
  // The free list is a ring through block 0, which is never free. The front of the list is m_next[0], and the
  // back is m_previous[0].
  SharedVector<BlockId> m_next;
  SharedVector<BlockId> m_previous;
  std::size_t m_freeCount = 0;
  std::size_t m_cachedCount = 0;
};

}  // namespace spanscope::trace
