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

/// The KV pool as rebuilt from its events. Copies share the blocks that do not change. Each event costs
/// constant time. CacheCleared and whole states cost time for every block. Except for block 0, a block is in
/// the free list exactly if it is not in use. The rules:
/// - SessionStarted, Snapshot: the state is replaced.
/// - BlockAllocated: a free block without a content gets one reference and leaves the free list.
/// - BlockShared: references as given, one more than before. A free block leaves the free list.
/// - BlockStored: the content is set, stored by the event's run, request and node.
/// - BlockRemoved: the content is cleared.
/// - BlockReleased: references as given, one fewer than before. At 0 the block joins the free list, without a
///   content at the front, else at the back.
/// - CacheCleared: all contents are cleared, and the free list becomes ascending. No block may be in use.
/// - BlockCopied and all other events change nothing.
class PoolReplay {
 public:
  /// A pool without blocks, for a source that reports none.
  PoolReplay() = default;

  /// Throws Failure for an invalid state, see check().
  explicit PoolReplay(PoolState state);

  /// Returns the fault of a state. Faults are references below 0 and a wrong free list. A fill that does not
  /// fit the tokens or the block is one too.
  static std::optional<Error> check(const PoolState& state);

  /// Applies an event. If the event contradicts the state, returns the error and changes nothing.
  std::optional<Error> apply(const Event& event);

  /// Returns the whole state with the order of the free list. Takes time and memory for every block.
  PoolState state() const;

  /// Returns the approximate memory of the pool beside an earlier state of it. Shared memory is not counted.
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
  // The free list is a ring through block 0, which is never free. Its front is m_next[0], and its back is
  // m_previous[0].
  SharedVector<BlockId> m_next;
  SharedVector<BlockId> m_previous;
  std::size_t m_freeCount = 0;
  std::size_t m_cachedCount = 0;
};

}  // namespace spanscope::trace
