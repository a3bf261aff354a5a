// SPDX-License-Identifier: GPL-3.0-or-later
// Physical blocks: who refers to them, and in which order the unreferenced ones will be taken. It does not
// know what stands in them.
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <vector>

namespace spanscope::cache {

/// Where an unreferenced block joins the free list: at the front it is the next to be taken, at the back the
/// last.
enum class FreeEnd { Front, Back };

/// Blocks 0 … count − 1; block 0 is the null block and never handed out. Every operation takes constant time
/// but those that list blocks. Misuse throws std::logic_error and changes nothing.
class BlockPool {
 public:
  /// All blocks are free, in ascending order. count ≥ 1.
  explicit BlockPool(std::int32_t count);

  std::int32_t count() const { return static_cast<std::int32_t>(m_blocks.size()); }
  std::int64_t freeCount() const { return m_freeCount; }
  std::int32_t references(BlockId block) const { return at(block).references; }

  /// The block that take() would give, or kNullBlock if none is free.
  BlockId front() const { return m_blocks[kNullBlock].next; }
  /// The free block after this free block, or kNullBlock.
  BlockId after(BlockId block) const;

  /// The front block, with one reference now.
  BlockId take();
  /// One reference more; a free block leaves the list. Returns the references after.
  std::int32_t share(BlockId block);
  /// One reference fewer; at 0 the block joins the free list at `end`. Returns the references after.
  std::int32_t release(BlockId block, FreeEnd end);

  /// Unreferenced blocks in the order in which they will be taken.
  std::vector<BlockId> freeOrder() const;

  /// As new. Only while no block is referenced.
  void reset();

 private:
  /// Links of the free list; the null block is the sentinel that closes it to a ring.
  struct Block {
    BlockId previous = kNullBlock;
    BlockId next = kNullBlock;
    std::int32_t references = 0;
  };

  const Block& at(BlockId block) const;
  void unlink(BlockId block);
  void linkBetween(BlockId previous, BlockId block, BlockId next);

  std::vector<Block> m_blocks;
  std::int64_t m_freeCount = 0;
};

}  // namespace spanscope::cache
