// SPDX-License-Identifier: GPL-3.0-or-later
// Lends memory to passes, one after the other. Allocating or freeing memory of a card would make the card
// wait.
#pragma once

#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace spanscope::cuda {

class CardBuffers;

/// Borrowed memory of the card. When it is returned, work on the stream may still use it. This is safe
/// because the next borrower gives its work to the same stream.
class CardBuffer {
 public:
  CardBuffer() = default;
  /// Uses memory that somebody else owns.
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

/// Borrowed memory of the host. Before it is returned, wait for the stream.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Uses memory that somebody else owns.
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

  /// At least `bytes` bytes; no memory for 0. Throws Failure if it cannot be allocated.
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
