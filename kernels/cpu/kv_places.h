// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace spanscope::cpu {

/// Where the blocks of a layer of the KV store have their keys, and their values, of each head. Some blocks
/// lie together, about kTogetherSlots slots of them, and in them each head's parts: attention reads head by
/// head, and memory is read a quarter faster where blocks that follow each other do so there too. All blocks
/// of a head together would have a few tokens take a page of each head of each layer.
class KvPlaces {
 public:
  static constexpr std::uint64_t kTogetherSlots = 512;

  KvPlaces() = default;
  /// `headElements`: of a head of a block.
  KvPlaces(std::int64_t blocks, std::int64_t blockSize, std::int64_t heads, std::int64_t headElements)
      : m_blocks(blocks),
        m_heads(heads),
        m_headElements(headElements),
        m_together(static_cast<std::int64_t>(std::bit_floor(
            std::max<std::uint64_t>(1, kTogetherSlots / static_cast<std::uint64_t>(blockSize))))) {}

  /// Elements from the layer's first to the first of a head of a block.
  std::int64_t of(BlockId block, std::int64_t head) const {
    const std::int64_t first = block & ~(m_together - 1);
    const std::int64_t together = std::min(m_together, m_blocks - first);
    return (first * m_heads + head * together + block - first) * m_headElements;
  }

 private:
  std::int64_t m_blocks = 0;
  std::int64_t m_heads = 0;
  std::int64_t m_headElements = 0;
  std::int64_t m_together = 1;  ///< blocks; a power of two
};

}  // namespace spanscope::cpu
