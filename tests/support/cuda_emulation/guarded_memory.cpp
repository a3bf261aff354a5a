// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cuda_emulation/guarded_memory.h"

#include "tests/support/cuda_emulation/sanitizers.h"

#include <algorithm>
#include <cstring>

namespace spanscope::cuda::emulation {

namespace {

constexpr std::byte kGuard{0xA5};

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes)
    : m_bytes(bytes),
      m_begin(
          static_cast<std::byte*>(::operator new (bytes + 2 * kGuardBytes, std::align_val_t{kGuardBytes}))) {
  std::fill_n(m_begin, kGuardBytes, kGuard);
  std::fill_n(data() + m_bytes, kGuardBytes, kGuard);
  forget();
  poison(m_begin, kGuardBytes);
  poison(data() + m_bytes, kGuardBytes);
}

GuardedMemory::~GuardedMemory() {
  unpoison(m_begin, m_bytes + 2 * kGuardBytes);
  ::operator delete (m_begin, std::align_val_t{kGuardBytes});
}

bool GuardedMemory::holds(const void* pointer, std::size_t bytes) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(data());
  const auto asked = reinterpret_cast<std::uintptr_t>(pointer);
  return asked >= begin && asked - begin <= m_bytes && bytes <= m_bytes - (asked - begin);
}

void GuardedMemory::forget() {
  unpoison(data(), m_bytes);
  std::memset(data(), kUnwritten, m_bytes);
}

bool GuardedMemory::isIntact() const {
#if SPANSCOPE_ADDRESS_SANITIZER
  return true;  // every writer there was reported
#else
  const auto isGuard = [](std::byte value) { return value == kGuard; };
  return std::all_of(m_begin, m_begin + kGuardBytes, isGuard) &&
         std::all_of(data() + m_bytes, data() + m_bytes + kGuardBytes, isGuard);
#endif
}

}  // namespace spanscope::cuda::emulation
