// SPDX-License-Identifier: GPL-3.0-or-later
// CPU offload: the tier of the span store in host memory. It keeps the most recently used blocks within its
// limit. Open this file to change what host memory keeps.
#pragma once

#include "engine/cache/store/stored_block.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

/// A block with its bytes.
struct HeldBlock {
  StoredFacts facts;
  std::shared_ptr<const StoreOwner> owner;
  std::uint64_t chain = 0;                              ///< equal for blocks that were stored for one segment
  std::int32_t place = 0;                               ///< place of the block in the chain
  std::string text = {};                                ///< see BlockToKeep::text
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< null in a prediction, which has no bytes
  std::uint64_t foretoldSize = 0;                       ///< for a prediction: number of bytes of the block
  std::int64_t storedAt = 0;                            ///< milliseconds since 1970, UTC
  std::int64_t usedAt = 0;

  std::uint64_t size() const { return bytes ? bytes->size() : foretoldSize; }
};

/// Not thread-safe: only one thread at a time may use it.
class HostStore {
 public:
  /// `limit`: max bytes, including the overhead of each block. 0: it keeps nothing.
  explicit HostStore(std::uint64_t limit) : m_limit(limit) {}
  /// Returns a store with the same blocks in the same order, but without bytes. It drops the same blocks as
  /// this store.
  HostStore forecast() const;

  /// Puts the block at the front of the order if it is new and fits. Returns the blocks that were dropped for
  /// it. A block that does not fit is returned itself.
  std::vector<HeldBlock> put(HeldBlock block);
  const HeldBlock* find(const ContentName& name) const;
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::int64_t now);
  void clear();

  std::uint64_t limit() const { return m_limit; }
  std::uint64_t bytes() const { return m_bytes; }
  std::uint64_t tokens() const { return m_tokens; }
  std::size_t count() const { return m_blocks.size(); }
  /// Returns all blocks, the most recently used first.
  const std::list<HeldBlock>& blocks() const { return m_order; }

  static std::uint64_t bytesOf(const HeldBlock& block);

 private:
  std::uint64_t m_limit;
  std::uint64_t m_bytes = 0;
  std::uint64_t m_tokens = 0;
  std::list<HeldBlock> m_order;
  std::unordered_map<ContentName, std::list<HeldBlock>::iterator, ContentNameHasher> m_blocks;
};

}  // namespace spanscope::cache
