// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds of the keys in whole blocks: for each head, the least and the greatest value of each element. Rows
// that read only some blocks choose them by these bounds (engine/compute/block_choice.h).
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/half.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/executor.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spanscope::cpu {

class CpuKvStore;

/// Bounds of a store's blocks, [layer][block][head] of [least, greatest][headSize]. They take no memory
/// before they are first needed.
class KeyBounds {
 public:
  explicit KeyBounds(const compute::KvShape& shape) : m_shape(shape) {}

  /// Allocates the memory of the bounds. Throws Failure if that is impossible.
  void open();

  bool isKnown(std::int32_t layer, BlockId block) const { return m_known[at(layer, block)] != 0; }
  void know(std::int32_t layer, BlockId block) { m_known[at(layer, block)] = 1; }
  /// Call this when keys of the block are overwritten.
  void forget(std::int32_t layer, BlockId block) {
    if (!m_known.empty()) m_known[at(layer, block)] = 0;
  }
  void forget(BlockId block) {
    for (std::int32_t layer = 0; layer < m_shape.layers; ++layer) forget(layer, block);
  }

  float* of(std::int32_t layer, BlockId block, std::int64_t head) {
    return m_bounds.as<float>() + placeOf(layer, block, head);
  }
  const float* of(std::int32_t layer, BlockId block, std::int64_t head) const {
    return m_bounds.as<float>() + placeOf(layer, block, head);
  }

 private:
  std::size_t at(std::int32_t layer, BlockId block) const {
    return static_cast<std::size_t>(layer) * static_cast<std::size_t>(m_shape.blocks) +
           static_cast<std::size_t>(block);
  }
  std::int64_t placeOf(std::int32_t layer, BlockId block, std::int64_t head) const {
    return (static_cast<std::int64_t>(at(layer, block)) * m_shape.heads + head) * 2 * m_shape.headSize;
  }

  compute::KvShape m_shape;
  AlignedBuffer m_bounds;
  std::vector<std::uint8_t> m_known;  ///< empty before open()
};

inline float keyElement(float element) {
  return element;
}
inline float keyElement(std::uint16_t element) {
  return compute::floatFromBf16(element);
}

/// Measures the bounds of the slots begin … end − 1 of one head in one block. The block's keys lie as
/// [headSize][blockSize]. bounds: [least, greatest][headSize].
template <class Element>
void measureBounds(const Element* keys, std::int64_t headSize, std::int64_t blockSize, std::int64_t begin,
                   std::int64_t end, float* bounds) {
  for (std::int64_t i = 0; i < headSize; ++i) {
    const Element* row = keys + i * blockSize;
    float least = keyElement(row[begin]);
    float greatest = least;
    for (std::int64_t slot = begin + 1; slot < end; ++slot) {
      const float element = keyElement(row[slot]);
      least = std::min(least, element);
      greatest = std::max(greatest, element);
    }
    bounds[i] = least;
    bounds[headSize + i] = greatest;
  }
}

/// Measures the bounds of the blocks in this layer that are not known yet: of those from which rows of the
/// plan choose, and of which they read every slot.
void learnBounds(Executor& executor, const CpuAttentionPlan& plan, const CpuKvStore& store,
                 std::int32_t layer);

}  // namespace spanscope::cpu
