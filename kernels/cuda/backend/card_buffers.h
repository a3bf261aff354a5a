// SPDX-License-Identifier: GPL-3.0-or-later
// Memory that passes use in turn: to ask a card for memory, or to give it back, makes it wait.
#pragma once

#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace spanscope::cuda {

class CardBuffers;

/// Memory on loan. What was given to the stream with it may still run when it goes back: whoever takes it
/// next gives its work to the same stream.
class CardBuffer {
 public:
  CardBuffer() = default;
  /// Of memory that somebody else keeps.
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

/// The same of the host. The stream must have been waited for before it goes back.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Of memory that somebody else keeps.
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

  /// At least that many bytes; none for 0. Throws Failure if they cannot be had.
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
