// SPDX-License-Identifier: GPL-3.0-or-later
// Allocates aligned memory for kernels. Open this file to allocate memory that vectors read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace spanscope::cpu {

/// Uninitialised memory for vectors, aligned to 64 bytes. Large buffers are on huge pages if the system has
/// them. After the last byte, kTail more bytes may be loaded but not used. Kernels can therefore load whole
/// vectors at the end.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kTail = 512;

  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : m_data(std::move(other.m_data)), m_size(std::exchange(other.m_size, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    m_data = std::move(other.m_data);
    m_size = std::exchange(other.m_size, 0);
    return *this;
  }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer() = default;
  /// Throws Failure if the memory cannot be allocated. The Failure names `what` and the number of bytes.
  AlignedBuffer(std::size_t bytes, const char* what);

  std::size_t size() const { return m_size; }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(m_data.get());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(m_data.get());
  }

  /// Reserves at least `bytes` bytes. If the memory grows, its contents are lost.
  void reserve(std::size_t bytes, const char* what) {
    if (bytes > m_size) *this = AlignedBuffer(bytes, what);
  }

 private:
  friend class BufferArena;

  std::shared_ptr<std::byte> m_data;  ///< memory of this buffer, or part of a larger piece
  std::size_t m_size = 0;
};

/// Returns a · b · c · d as a size in bytes. Throws Failure if a factor is negative or the product overflows.
/// The Failure names `what`.
std::size_t checkedBytes(const char* what, std::int64_t a, std::int64_t b, std::int64_t c = 1,
                         std::int64_t d = 1);

/// Allocates permanent buffers, such as weights, from large pieces of memory on huge pages. Separate buffers
/// of a small model would be on small pages. The address translation of small pages would cost a tenth of the
/// read rate. A piece is freed when all its buffers are destroyed. Not thread-safe. Buffers may outlive the
/// arena.
class BufferArena {
 public:
  /// Bytes of a piece. At most a quarter stays unused, and unwritten memory takes no space.
  static constexpr std::size_t kPiece = std::size_t{16} << 20;

  /// Like the constructor of AlignedBuffer. A buffer larger than a quarter of a piece has its own memory.
  AlignedBuffer take(std::size_t bytes, const char* what);

 private:
  std::shared_ptr<AlignedBuffer> m_piece;
  std::size_t m_used = 0;
};

}  // namespace spanscope::cpu
