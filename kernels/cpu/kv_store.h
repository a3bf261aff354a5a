// SPDX-License-Identifier: GPL-3.0-or-later
// The KV store of the CPU, with bounds of keys for the `sparse` policy. Open this file to change how keys are
// stored.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/dtype.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/attention_plan.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/kv_places.h"
#include "kernels/cpu/pass.h"
#include "kernels/cpu/row_kernels.h"
#include "kernels/cpu/tensor.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace spanscope::cpu {

// Bounds of the keys in whole blocks: for each head, the min and max value of each element. Rows that read
// only some blocks choose the blocks by these bounds (engine/compute/block_choice.h).

class CpuKvStore;

/// Bounds of a store's blocks, [layer][block][head] of [least, greatest][headSize]. The bounds take no memory
/// before their first use.
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
  /// Every layer has the space of the largest heads.
  std::int64_t placeOf(std::int32_t layer, BlockId block, std::int64_t head) const {
    const std::int64_t before =
        static_cast<std::int64_t>(at(layer, block)) * m_shape.heads * m_shape.headSize;
    return 2 * (before + head * m_shape.headsOf(layer).headSize);
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

/// Measures the bounds of the slots begin … end − 1 of one head in one block. The block's keys have the
/// layout [headSize][blockSize]. bounds: [least, greatest][headSize].
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

/// Measures unknown bounds of blocks in this layer. Only blocks from which rows of the plan choose, and whose
/// slots are all read, are measured.
void learnBounds(Executor& executor, const CpuAttentionPlan& plan, const CpuKvStore& store,
                 std::int32_t layer);

/// Keys and values by layer. KvPlaces defines the places in a layer. In a head of a block, keys have the
/// layout [headSize][blockSize]. Scores are then computed for several keys of a block at the same time.
/// Values have the layout [blockSize][headSize]. Sums of values then run over the head. A slot that was never
/// written is undefined. Kernels may load such a slot but must not use it.
class CpuKvStore final : public compute::KvStore {
 public:
  /// Throws Failure if the shape is invalid or the memory cannot be allocated.
  explicit CpuKvStore(const compute::KvShape& shape);

  const compute::KvShape& shape() const override { return m_shape; }
  void copyBlock(BlockId source, BlockId target, std::int32_t slots);
  void readBlock(const compute::BlockToHost& block) const;
  void writeBlock(const compute::BlockFromHost& block);
  void read(std::int32_t layer, std::int64_t slot, std::span<float> key,
            std::span<float> value) const override;

  /// Returns the first element of a layer's keys and values, or of a head of a block in the layer.
  template <class T>
  const T* keys(std::int32_t layer) const {
    return m_keys.as<T>() + of(layer).first;
  }
  template <class T>
  const T* values(std::int32_t layer) const {
    return m_values.as<T>() + of(layer).first;
  }
  template <class T>
  const T* keys(std::int32_t layer, BlockId block, std::int64_t head) const {
    return keys<T>(layer) + places(layer).of(block, head);
  }
  template <class T>
  const T* values(std::int32_t layer, BlockId block, std::int64_t head) const {
    return values<T>(layer) + places(layer).of(block, head);
  }
  template <class T>
  T* keys(std::int32_t layer, BlockId block, std::int64_t head) {
    return m_keys.as<T>() + of(layer).first + places(layer).of(block, head);
  }
  template <class T>
  T* values(std::int32_t layer, BlockId block, std::int64_t head) {
    return m_values.as<T>() + of(layer).first + places(layer).of(block, head);
  }
  const KvPlaces& places(std::int32_t layer) const { return of(layer).places; }

  /// Returns the bounds of the current keys. Code that writes keys without this store's functions must call
  /// forget() for the block.
  KeyBounds& keyBounds() const { return m_bounds; }

 private:
  template <class T>
  void copyBlockOf(BlockId source, BlockId target, std::int32_t slots);
  template <class T>
  void readBlockOf(BlockId block, std::int32_t slots, std::byte* out) const;
  template <class T>
  void writeBlockOf(BlockId block, std::int32_t slots, const std::byte* bytes);
  template <class T>
  void readFrom(std::int32_t layer, std::int64_t slot, std::span<float> key, std::span<float> value) const;

  /// The place of a layer in the store.
  struct Layer {
    std::int64_t first = 0;  ///< elements before it
    KvPlaces places;
  };
  const Layer& of(std::int32_t layer) const { return m_layers[static_cast<std::size_t>(layer)]; }

  compute::KvShape m_shape;
  std::vector<Layer> m_layers;
  AlignedBuffer m_keys;
  AlignedBuffer m_values;
  mutable KeyBounds m_bounds;  ///< computed from the keys at its first use
};

inline CpuKvStore& cpuKvStore(compute::KvStore& store) {
  return static_cast<CpuKvStore&>(store);
}
inline const CpuKvStore& cpuKvStore(const compute::KvStore& store) {
  return static_cast<const CpuKvStore&>(store);
}

/// Rotates each key row by its position in the segment. Rounds keys and values to the store's type, and
/// writes them at slots[row].
void writeKeysValues(Executor& executor, const RowKernels& kernels, const CpuPass& pass,
                     const CpuTensor& keys, const CpuTensor& values, std::int32_t layer, CpuKvStore& store);

/// Implements compute::Backend::deviations. out: [rows][1].
void measureDeviations(Executor& executor, const RowKernels& kernels, const CpuPass& pass,
                       compute::StoredPart part, const CpuTensor& x, std::int32_t layer,
                       const CpuKvStore& store, CpuTensor& out);

}  // namespace spanscope::cpu
