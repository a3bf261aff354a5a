// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace spanscope::cuda::emulation {

/// The byte of unwritten memory: it makes a NaN as f32, f64 and bf16, and −1 as an integer.
inline constexpr std::uint8_t kUnwritten = 0xFF;

/// Memory of exactly `bytes` bytes between two guards. The address sanitizer reports every access to a guard.
/// Without it, isIntact() finds what was written there.
class GuardedMemory {
 public:
  /// Takes memory at a multiple of 256 bytes, filled with kUnwritten. Throws std::bad_alloc.
  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::size_t bytes() const { return m_bytes; }
  std::byte* data() const { return m_begin + kGuardBytes; }
  bool holds(const void* pointer, std::size_t bytes) const;

  void forget();          ///< fills it with kUnwritten again
  bool isIntact() const;  ///< nothing was written to the guards

 private:
  static constexpr std::size_t kGuardBytes = 256;
  std::size_t m_bytes;
  std::byte* m_begin;
};

}  // namespace spanscope::cuda::emulation
