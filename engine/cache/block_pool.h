// SPDX-License-Identifier: GPL-3.0-or-later
// Counts the references on each physical block and orders the free blocks for eviction. The pool does not
// know the contents of blocks. Open this file when the order of eviction looks wrong.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/pool_state.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

/// The end of the free list that an unreferenced block joins. The front block is allocated first, the back
/// block last.
enum class FreeEnd { Front, Back };

/// Blocks 0 … count − 1. Block 0 is the null block and is never allocated. Every operation takes constant
/// time, except those that list blocks. Misuse throws std::logic_error and changes nothing.
class BlockPool {
 public:
  /// Makes a pool of free blocks in ascending order. count ≥ 1.
  explicit BlockPool(std::int32_t count);

  std::int32_t count() const { return static_cast<std::int32_t>(m_blocks.size()); }
  std::int64_t freeCount() const { return m_freeCount; }
  std::int32_t references(BlockId block) const { return at(block).references; }

  /// Returns the block that take() would return, or kNullBlock if no block is free.
  BlockId front() const { return m_blocks[kNullBlock].next; }
  /// Returns the next block in the free list after this free block, or kNullBlock.
  BlockId after(BlockId block) const;

  /// Allocates the front block. The block then has one reference.
  BlockId take();
  /// Adds a reference. A free block leaves the free list. Returns the new number of references.
  std::int32_t share(BlockId block);
  /// Drops a reference. A block without references joins the free list at `end`. Returns the new number of
  /// references.
  std::int32_t release(BlockId block, FreeEnd end);

  /// Returns the unreferenced blocks in the order in which take() will allocate them.
  std::vector<BlockId> freeOrder() const;

  /// Resets the pool to its initial state. No block may be referenced.
  void reset();

 private:
  /// A node of the free list. The list is a ring, and the null block is its sentinel.
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

/// Remembers which event evicted a content, for the last `capacity` contents. The memory is used only to
/// explain misses. A key therefore suffices to identify a content.
class EvictionMemory {
 public:
  explicit EvictionMemory(std::size_t capacity = 65536) : m_capacity(capacity) {}

  /// Stores the eviction. numberOf() later returns `number`. Sequence numbers must not decrease.
  void remember(const trace::BlockKey& key, std::uint64_t sequence, std::uint64_t number = 0);
  /// Call this when the content is in the cache again.
  void forget(const trace::BlockKey& key);
  /// Returns the sequence number of the event that evicted the content.
  std::optional<std::uint64_t> find(const trace::BlockKey& key) const;

  /// Returns the `number` that remember() stored for this event. Returns nothing if the memory has dropped
  /// the event.
  std::optional<std::uint64_t> numberOf(std::uint64_t sequence) const;

  std::size_t size() const { return m_sequences.size(); }

 private:
  struct KeyHasher {
    std::size_t operator()(const trace::BlockKey& key) const {
      return static_cast<std::size_t>(key.low ^ (key.high * 0x9e3779b97f4a7c15U));
    }
  };
  struct Entry {
    trace::BlockKey key;
    std::uint64_t sequence = 0;
    std::uint64_t number = 0;
  };

  std::size_t m_capacity;
  std::unordered_map<trace::BlockKey, std::uint64_t, KeyHasher> m_sequences;
  std::deque<Entry> m_order;  ///< oldest first; an entry is stale if m_sequences has another sequence for its
                              ///< key
};

}  // namespace spanscope::cache
