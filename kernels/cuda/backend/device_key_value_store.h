// SPDX-License-Identifier: GPL-3.0-or-later
// The KV store on the GPU. Open this file to change how the backend allocates the pool.
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cuda/backend/device_work.h"
#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

#include <memory>

namespace spanscope::cuda {

class DeviceKeyValueStore final : public compute::KvStore {
 public:
  /// Throws Failure if the GPU lacks the memory, or there are no kernels for the shape.
  DeviceKeyValueStore(const Device& device, std::shared_ptr<DeviceWork> work, const compute::KvShape& shape);

  const compute::KvShape& shape() const override { return m_shape; }
  void read(std::int32_t layer, std::int64_t slot, std::span<float> key,
            std::span<float> value) const override;

  /// Both functions wait until the copies are done.
  void readBlocks(std::span<const compute::BlockToHost> blocks) const;
  void writeBlocks(std::span<const compute::BlockFromHost> blocks);

  const KeyValuePool& pool() const { return m_pool; }
  /// From now on, the pool keeps bounds of keys. Throws Failure if the GPU lacks the memory.
  void keepBounds() const;

 private:
  void readSide(const void* side, std::int32_t layer, std::int64_t slot, std::span<float> out) const;

  compute::KvShape m_shape;
  Device m_device;
  std::shared_ptr<DeviceWork> m_work;
  DeviceMemory m_keys;
  DeviceMemory m_values;
  DeviceMemory m_bounded;
  mutable DeviceMemory m_bounds;  ///< computed from the keys at first use
  mutable KeyValuePool m_pool;
};

inline const DeviceKeyValueStore& deviceStore(const compute::KvStore& store) {
  return static_cast<const DeviceKeyValueStore&>(store);
}

/// Returns the elements of a head in the pool. The size is rounded up, because kernels read whole vectors.
constexpr std::int32_t paddedHeadSize(std::int32_t headSize) {
  return (headSize + 15) / 16 * 16;
}

/// Returns the pool of a store of this shape, in the form for kernels, without memory.
KeyValuePool poolOf(const compute::KvShape& shape);

}  // namespace spanscope::cuda
