// SPDX-License-Identifier: GPL-3.0-or-later
// Lends memory to forward passes, one after the other. Allocating or freeing GPU memory would stop the GPU.
// Open this file to change reuse of memory.
#pragma once

#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace spanscope::cuda {

class DeviceBuffers;

/// Borrowed memory of the GPU or of the host.
template <class Memory>
class LentMemory {
 public:
  LentMemory() = default;
  /// Uses memory of another owner.
  explicit LentMemory(std::byte* lent) : m_lent(lent) {}
  LentMemory(std::shared_ptr<DeviceBuffers> owner, Memory memory);
  ~LentMemory();
  LentMemory(LentMemory&& other) noexcept = default;
  LentMemory& operator=(LentMemory&& other) noexcept;

  std::byte* data() const { return m_lent != nullptr ? m_lent : m_memory.template as<std::byte>(); }

 private:
  void giveBack();
  std::shared_ptr<DeviceBuffers> m_owner;
  Memory m_memory;
  std::byte* m_lent = nullptr;
};

/// Work on the stream may still use the memory after its return. Such use is safe, because the next borrower
/// uses the same stream.
using DeviceBuffer = LentMemory<DeviceMemory>;
/// Wait for the stream before the return of this memory.
using HostBuffer = LentMemory<PinnedMemory>;

class DeviceBuffers : public std::enable_shared_from_this<DeviceBuffers> {
 public:
  explicit DeviceBuffers(const Device& device) : m_device(device) {}

  /// Returns at least `bytes` bytes, and no memory for 0. Throws Failure if the memory cannot be allocated.
  DeviceBuffer take(std::size_t bytes);
  HostBuffer takeOfHost(std::size_t bytes);

  /// Takes back borrowed memory.
  void keep(DeviceMemory memory);
  void keep(PinnedMemory memory);

 private:
  Device m_device;
  std::vector<DeviceMemory> m_free;
  std::vector<PinnedMemory> m_freeOfHost;
};

}  // namespace spanscope::cuda
