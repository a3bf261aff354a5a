// SPDX-License-Identifier: GPL-3.0-or-later
// The tier of the span store in the memory of the host: copies of blocks, the last used ones that fit into
// its bound.
#pragma once

#include "engine/cache/store/stored_block.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

/// A block with its bytes.
struct HeldBlock {
  StoredFacts facts;
  std::shared_ptr<const StoreOwner> owner;
  std::uint64_t chain = 0;                              ///< equal for blocks that were stored for one segment
  std::int32_t place = 0;                               ///< in it
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< null in a forecast, which has none
  std::uint64_t foretoldSize = 0;                       ///< bytes that it would have there
  std::int64_t storedAt = 0;                            ///< milliseconds since 1970, UTC
  std::int64_t usedAt = 0;

  std::uint64_t size() const { return bytes ? bytes->size() : foretoldSize; }
};

/// Used by one thread at a time.
class HostStore {
 public:
  /// `limit`: most bytes, what keeping a block takes besides included; 0: it keeps nothing.
  explicit HostStore(std::uint64_t limit) : m_limit(limit) {}
  /// One that keeps the same blocks in the same order, without their bytes: it gives up what this one would.
  HostStore forecast() const;

  /// Keeps the block, if it is not there and fits at all, and gives those that had to go for it.
  std::vector<HeldBlock> put(HeldBlock block);
  const HeldBlock* find(const ContentName& name) const;
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::int64_t now);
  void clear();

  std::uint64_t limit() const { return m_limit; }
  std::uint64_t bytes() const { return m_bytes; }
  std::uint64_t tokens() const { return m_tokens; }
  std::size_t count() const { return m_blocks.size(); }
  /// The last used first.
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
