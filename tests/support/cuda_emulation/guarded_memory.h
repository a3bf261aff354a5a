// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace spanscope::cuda::emulation {

/// What memory holds that nobody wrote: a NaN as f32, f64 and bf16, −1 as an integer.
inline constexpr std::uint8_t kUnwritten = 0xFF;

/// Memory of exactly `bytes` bytes between two guards: the address sanitizer reports whoever touches them,
/// and without it what was written there is found later.
class GuardedMemory {
 public:
  /// At a multiple of 256 bytes, filled with kUnwritten. Throws std::bad_alloc.
  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::size_t bytes() const { return m_bytes; }
  std::byte* data() const { return m_begin + kGuardBytes; }
  bool holds(const void* pointer, std::size_t bytes) const;

  void forget();          ///< fills it with kUnwritten again
  bool isIntact() const;  ///< nobody wrote to the guards

 private:
  static constexpr std::size_t kGuardBytes = 256;
  std::size_t m_bytes;
  std::byte* m_begin;
};

}  // namespace spanscope::cuda::emulation
