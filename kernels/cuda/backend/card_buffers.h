// SPDX-License-Identifier: GPL-3.0-or-later
// Lends memory to passes, one after the other. Allocating or freeing GPU memory would stop the GPU. Open this
// file to change reuse of memory.
#pragma once

#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace spanscope::cuda {

class CardBuffers;

/// Borrowed memory of the GPU. Work on the stream may still use it after its return. This is safe, because
/// the next borrower uses the same stream.
class CardBuffer {
 public:
  CardBuffer() = default;
  /// Uses memory of another owner.
  explicit CardBuffer(std::byte* lent) : m_lent(lent) {}
  CardBuffer(std::shared_ptr<CardBuffers> owner, DeviceMemory memory);
  ~CardBuffer();
  CardBuffer(CardBuffer&& other) noexcept = default;
  CardBuffer& operator=(CardBuffer&& other) noexcept;

  std::byte* data() const { return m_lent != nullptr ? m_lent : m_memory.as<std::byte>(); }

 private:
  void giveBack();
  std::shared_ptr<CardBuffers> m_owner;
  DeviceMemory m_memory;
  std::byte* m_lent = nullptr;
};

/// Borrowed memory of the host. Wait for the stream before its return.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Uses memory of another owner.
  explicit HostBuffer(std::byte* lent) : m_lent(lent) {}
  HostBuffer(std::shared_ptr<CardBuffers> owner, PinnedMemory memory);
  ~HostBuffer();
  HostBuffer(HostBuffer&& other) noexcept = default;
  HostBuffer& operator=(HostBuffer&& other) noexcept;

  std::byte* data() const { return m_lent != nullptr ? m_lent : m_memory.as<std::byte>(); }

 private:
  void giveBack();
  std::shared_ptr<CardBuffers> m_owner;
  PinnedMemory m_memory;
  std::byte* m_lent = nullptr;
};

class CardBuffers : public std::enable_shared_from_this<CardBuffers> {
 public:
  explicit CardBuffers(const Device& device) : m_device(device) {}

  /// Returns at least `bytes` bytes, and no memory for 0. Throws Failure if it cannot be allocated.
  CardBuffer take(std::size_t bytes);
  HostBuffer takeOfHost(std::size_t bytes);

 private:
  friend class CardBuffer;
  friend class HostBuffer;
  Device m_device;
  std::vector<DeviceMemory> m_free;
  std::vector<PinnedMemory> m_freeOfHost;
};

}  // namespace spanscope::cuda
