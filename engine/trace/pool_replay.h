// SPDX-License-Identifier: GPL-3.0-or-later
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

/// The KV pool as its events rebuild it. Copies share the blocks that do not change. Each event costs
/// constant time (CacheCleared and whole states: the number of blocks), and the state always holds: block 0
/// aside, a block is in the free list exactly if nobody refers to it.
///
/// The rules:
/// - SessionStarted, Snapshot: the state is replaced.
/// - BlockAllocated: a free block that cannot be found gets one reference and leaves the free list.
/// - BlockShared: references as given, one more than before; leaves the free list if it stood there.
/// - BlockStored: what lookups can find is set, stored by the event's run, request and node.
/// - BlockRemoved: what lookups can find is cleared.
/// - BlockReleased: references as given, one fewer than before; at 0 the block joins the free list, at its
/// front if
///   it cannot be found, else at its back.
/// - CacheCleared: nothing can be found any more; the free list becomes ascending. Nobody may refer to a
/// block.
/// - BlockCopied and all other events change nothing.
class PoolReplay {
 public:
  /// No blocks at all: what a source has that reports none.
  PoolReplay() = default;

  /// Throws Failure for a state that is none, see check().
  explicit PoolReplay(PoolState state);

  /// What is wrong with a state: references below 0, a list of free blocks that is not the list of
  /// unreferenced ones, a fill that is not the number of tokens or does not fit the block.
  static std::optional<Error> check(const PoolState& state);

  /// Applies an event. Where it contradicts the state, that is returned and nothing has changed.
  std::optional<Error> apply(const Event& event);

  /// The whole state with the order of the free list; takes time and memory for every block.
  PoolState state() const;

  /// About how much memory the pool takes beside an earlier state of it: what the two share is not counted.
  std::uint64_t bytesBeside(const PoolReplay& before) const;

  std::size_t blockCount() const { return m_blocks.size(); }  ///< the null block included
  std::int32_t blockSize() const { return m_blockSize; }      ///< token slots
  const SharedVector<BlockState>& blocks() const { return m_blocks; }
  std::vector<BlockId> freeOrder() const;                ///< from the front
  std::size_t freeCount() const { return m_freeCount; }  ///< blocks nobody refers to, cached ones included
  std::size_t cachedCount() const { return m_cachedCount; }  ///< blocks that a lookup can find

 private:
  struct Applier;

  void rebuildLists(const std::vector<BlockId>& freeOrder);
  void leaveFreeList(BlockId block);
  void joinFreeList(BlockId block, bool atFront);
  void forget(std::size_t index);

  std::int32_t m_blockSize = 16;
  SharedVector<BlockState> m_blocks;
  // The free list is a ring through block 0, which is never free: m_next[0] is its front, m_previous[0] its
  // back.
  SharedVector<BlockId> m_next;
  SharedVector<BlockId> m_previous;
  std::size_t m_freeCount = 0;
  std::size_t m_cachedCount = 0;
};

}  // namespace spanscope::trace
