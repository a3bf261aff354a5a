// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

namespace spanscope::twin::vllm {

/// The free blocks of a pool in the order in which they are taken: first those that were given back without a
/// name, the last one first; then those that nobody has taken yet, by number; then those with a name, the one
/// that was given back first first. Memory grows with the blocks that were taken, not with the pool.
class BlockQueue {
 public:
  /// Blocks 1 … blockCount − 1 are free. `blockCount`: at least 1.
  explicit BlockQueue(BlockId blockCount) : m_end(blockCount) {}

  std::int64_t size() const;
  /// The next block; there must be one.
  BlockId take();
  /// Takes a block that was given back with a name.
  void takeOut(BlockId block);
  /// Gives blocks back without a name; the first of them is the next to be taken.
  void giveBackFirst(std::span<const BlockId> blocks);
  void giveBackLast(BlockId block);

 private:
  std::vector<BlockId> m_first;  ///< the next one to be taken is the last element
  BlockId m_fresh = 1;           ///< blocks from here to m_end were never taken
  BlockId m_end;
  std::map<std::uint64_t, BlockId> m_last;  ///< by the time of giving back
  std::unordered_map<BlockId, std::uint64_t> m_times;
  std::uint64_t m_now = 0;
};

}  // namespace spanscope::twin::vllm
