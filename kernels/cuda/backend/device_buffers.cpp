// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/device_buffers.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

namespace spanscope::cuda {
namespace {

constexpr std::size_t kLeast = std::size_t{1} << 16U;
constexpr std::size_t kMostFree = 32;

/// Returns the smallest buffer that is large enough, if there is one.
template <class Memory>
std::optional<Memory> takeFrom(std::vector<Memory>& free, std::size_t bytes) {
  auto best = free.end();
  for (auto memory = free.begin(); memory != free.end(); ++memory) {
    if (memory->bytes() >= bytes && (best == free.end() || memory->bytes() < best->bytes())) best = memory;
  }
  // A buffer that is far too large is left for larger requests.
  if (best == free.end() || best->bytes() / 8 > std::max(bytes, kLeast)) return std::nullopt;
  Memory found = std::move(*best);
  free.erase(best);
  return found;
}

template <class Memory>
void keepIn(std::vector<Memory>& free, Memory memory) {
  if (memory.bytes() > 0 && free.size() < kMostFree) free.push_back(std::move(memory));
}

std::size_t rounded(std::size_t bytes) {
  return std::bit_ceil(std::max(bytes, kLeast));
}

}  // namespace

template <class Memory>
LentMemory<Memory>::LentMemory(std::shared_ptr<DeviceBuffers> owner, Memory memory)
    : m_owner(std::move(owner)), m_memory(std::move(memory)) {}

template <class Memory>
LentMemory<Memory>::~LentMemory() {
  giveBack();
}

template <class Memory>
LentMemory<Memory>& LentMemory<Memory>::operator=(LentMemory&& other) noexcept {
  if (this == &other) return *this;
  giveBack();
  m_owner = std::move(other.m_owner);
  m_memory = std::move(other.m_memory);
  m_lent = other.m_lent;
  return *this;
}

template <class Memory>
void LentMemory<Memory>::giveBack() {
  if (m_owner) m_owner->keep(std::move(m_memory));
  m_owner = nullptr;
}

template class LentMemory<DeviceMemory>;
template class LentMemory<PinnedMemory>;

void DeviceBuffers::keep(DeviceMemory memory) {
  keepIn(m_free, std::move(memory));
}

void DeviceBuffers::keep(PinnedMemory memory) {
  keepIn(m_freeOfHost, std::move(memory));
}

DeviceBuffer DeviceBuffers::take(std::size_t bytes) {
  if (bytes == 0) return {};
  std::optional<DeviceMemory> free = takeFrom(m_free, bytes);
  if (!free) free.emplace(m_device, rounded(bytes), "work of a pass");
  return {shared_from_this(), std::move(*free)};
}

HostBuffer DeviceBuffers::takeOfHost(std::size_t bytes) {
  if (bytes == 0) return {};
  std::optional<PinnedMemory> free = takeFrom(m_freeOfHost, bytes);
  if (!free) free.emplace(m_device, rounded(bytes), "copies to and from a GPU");
  return {shared_from_this(), std::move(*free)};
}

}  // namespace spanscope::cuda
