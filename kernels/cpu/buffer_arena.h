// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cpu/aligned_buffer.h"

#include <cstddef>
#include <memory>

namespace spanscope::cpu {

/// Cuts buffers that stay, as weights do, out of large pieces of memory on huge pages. Each by itself, those
/// of a small model would lie on small pages, and what the translation of addresses costs then is a tenth of
/// the rate at which they are read. A piece is given back once all buffers of it are gone. Not thread-safe;
/// buffers may outlive the arena.
class BufferArena {
 public:
  /// Bytes of a piece; at most a quarter is left unused, and memory that is not written takes no room.
  static constexpr std::size_t kPiece = std::size_t{16} << 20;

  /// As the constructor of AlignedBuffer. A buffer larger than a quarter of a piece has memory of its own.
  AlignedBuffer take(std::size_t bytes, const char* what);

 private:
  std::shared_ptr<AlignedBuffer> m_piece;
  std::size_t m_used = 0;
};

}  // namespace spanscope::cpu
