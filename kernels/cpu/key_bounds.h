// SPDX-License-Identifier: GPL-3.0-or-later
// What is known of the keys of whole blocks: of each head the least and the greatest of each element. By it
// rows that read only some blocks choose them (engine/compute/block_choice.h).
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

/// Bounds of a store's blocks, [layer][block][head] of [least, greatest][headSize]. It takes no memory before
/// somebody asks for one.
class KeyBounds {
 public:
  explicit KeyBounds(const compute::KvShape& shape) : m_shape(shape) {}

  /// From now on there is memory for them. Throws Failure if it cannot be had.
  void open();

  bool isKnown(std::int32_t layer, BlockId block) const { return m_known[at(layer, block)] != 0; }
  void know(std::int32_t layer, BlockId block) { m_known[at(layer, block)] = 1; }
  /// Keys of the block are written anew.
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
  std::vector<std::uint8_t> m_known;  ///< empty before it is open
};

inline float keyElement(float element) {
  return element;
}
inline float keyElement(std::uint16_t element) {
  return compute::floatFromBf16(element);
}

/// Of slots begin … end − 1 of one head in one block, whose keys lie [headSize][blockSize]; bounds: [least,
/// greatest][headSize].
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

/// Has the store know the bounds of all blocks in this layer that rows of the plan choose from and read from
/// end to end.
void learnBounds(Executor& executor, const CpuAttentionPlan& plan, const CpuKvStore& store,
                 std::int32_t layer);

}  // namespace spanscope::cpu
