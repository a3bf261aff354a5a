// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the places of keys and values in the KV store. Open this file to change the store's layout.
#pragma once

#include "engine/base/ids.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace spanscope::cpu {

/// The places of the keys and values of each block and head in a layer of the KV store. Groups of blocks, of
/// about kTogetherSlots slots, are together in memory. In a group, each head's data is together. Attention
/// reads head by head, and memory is a quarter faster in this order. Without groups, a few tokens would use a
/// page for each head of each layer.
class KvPlaces {
 public:
  static constexpr std::uint64_t kTogetherSlots = 512;

  KvPlaces() = default;
  /// `headElements`: number of elements of a head of a block.
  KvPlaces(std::int64_t blocks, std::int64_t blockSize, std::int64_t heads, std::int64_t headElements)
      : m_blocks(blocks),
        m_heads(heads),
        m_headElements(headElements),
        m_together(static_cast<std::int64_t>(std::bit_floor(
            std::max<std::uint64_t>(1, kTogetherSlots / static_cast<std::uint64_t>(blockSize))))) {}

  /// Returns the elements from the layer's first element to the first element of a head of a block.
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
