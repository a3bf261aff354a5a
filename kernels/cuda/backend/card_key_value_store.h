// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/backend/card_work.h"
#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

#include <memory>

namespace spanscope::cuda {

class CardKeyValueStore final : public compute::KvStore {
 public:
  /// Throws Failure if the card lacks the memory, or there are no kernels for the shape.
  CardKeyValueStore(const Device& device, std::shared_ptr<CardWork> work, const compute::KvShape& shape);

  const compute::KvShape& shape() const override { return m_shape; }
  void read(std::int32_t layer, std::int64_t slot, std::span<float> key,
            std::span<float> value) const override;

  /// Both functions wait until the copies are done.
  void readBlocks(std::span<const compute::BlockToHost> blocks) const;
  void writeBlocks(std::span<const compute::BlockFromHost> blocks);

  const KeyValuePool& pool() const { return m_pool; }
  /// Makes the pool keep bounds of keys from now on. Throws Failure if the card lacks the memory.
  void keepBounds() const;

 private:
  void readSide(const void* side, std::int32_t layer, std::int64_t slot, std::span<float> out) const;

  compute::KvShape m_shape;
  Device m_device;
  std::shared_ptr<CardWork> m_work;
  DeviceMemory m_keys;
  DeviceMemory m_values;
  DeviceMemory m_bounded;
  mutable DeviceMemory m_bounds;  ///< computed from the keys when they are needed
  mutable KeyValuePool m_pool;
};

inline const CardKeyValueStore& cardStore(const compute::KvStore& store) {
  return static_cast<const CardKeyValueStore&>(store);
}

/// Elements of a head in the pool. Kernels read whole vectors, so the size is rounded up.
constexpr std::int32_t paddedHeadSize(std::int32_t headSize) {
  return (headSize + 15) / 16 * 16;
}

/// What kernels know about a store of this shape; it has no memory yet.
KeyValuePool poolOf(const compute::KvShape& shape);

}  // namespace spanscope::cuda
