// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/key_bounds.h"
#include "kernels/cpu/kv_places.h"

namespace spanscope::cpu {

/// Keys and values by layer, and within it as KvPlaces says. In a head of a block, keys lie as
/// [headSize][blockSize], so that scores are computed for several keys of a block at once. Values lie as
/// [blockSize][headSize], so that sums of values run over the head. A slot that was never written has
/// undefined contents: kernels may load them but must not use them.
class CpuKvStore final : public compute::KvStore {
 public:
  /// Throws Failure if the shape makes no sense or the memory cannot be allocated.
  explicit CpuKvStore(const compute::KvShape& shape);

  const compute::KvShape& shape() const override { return m_shape; }
  void copyBlock(BlockId source, BlockId target, std::int32_t slots);
  void readBlock(const compute::BlockToHost& block) const;
  void writeBlock(const compute::BlockFromHost& block);
  void read(std::int32_t layer, std::int64_t slot, std::span<float> key,
            std::span<float> value) const override;

  /// First element of a layer's keys and values, and of those of a head of a block in it.
  template <class T>
  const T* keys(std::int32_t layer) const {
    return m_keys.as<T>() + layer * m_layerElements;
  }
  template <class T>
  const T* values(std::int32_t layer) const {
    return m_values.as<T>() + layer * m_layerElements;
  }
  template <class T>
  const T* keys(std::int32_t layer, BlockId block, std::int64_t head) const {
    return keys<T>(layer) + m_places.of(block, head);
  }
  template <class T>
  const T* values(std::int32_t layer, BlockId block, std::int64_t head) const {
    return values<T>(layer) + m_places.of(block, head);
  }
  template <class T>
  T* keys(std::int32_t layer, BlockId block, std::int64_t head) {
    return m_keys.as<T>() + layer * m_layerElements + m_places.of(block, head);
  }
  template <class T>
  T* values(std::int32_t layer, BlockId block, std::int64_t head) {
    return m_values.as<T>() + layer * m_layerElements + m_places.of(block, head);
  }
  const KvPlaces& places() const { return m_places; }
  std::int64_t headElements() const { return m_headElements; }  ///< of a head of a block

  /// Bounds of the current keys. Code that writes keys without this store's functions must forget the bounds
  /// of the block.
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

  compute::KvShape m_shape;
  std::int64_t m_headElements = 0;
  std::int64_t m_layerElements = 0;
  KvPlaces m_places;
  AlignedBuffer m_keys;
  AlignedBuffer m_values;
  mutable KeyBounds m_bounds;  ///< computed from the keys when it is needed
};

inline CpuKvStore& cpuKvStore(compute::KvStore& store) {
  return static_cast<CpuKvStore&>(store);
}
inline const CpuKvStore& cpuKvStore(const compute::KvStore& store) {
  return static_cast<const CpuKvStore&>(store);
}

}  // namespace spanscope::cpu
