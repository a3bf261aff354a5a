// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/buffer_arena.h"

namespace spanscope::cpu {

AlignedBuffer BufferArena::take(std::size_t bytes, const char* what) {
  if (bytes > kPiece / 4) return AlignedBuffer(bytes, what);
  constexpr std::size_t kAlignment = AlignedBuffer::kAlignment;
  const std::size_t taken = (bytes + AlignedBuffer::kTail + kAlignment - 1) / kAlignment * kAlignment;
  if (m_piece == nullptr || m_used + taken > kPiece) {
    m_piece = std::make_shared<AlignedBuffer>(kPiece, what);
    m_used = 0;
  }
  AlignedBuffer buffer;
  buffer.m_data = std::shared_ptr<std::byte>(m_piece, m_piece->as<std::byte>() + m_used);
  buffer.m_size = bytes;
  m_used += taken;
  return buffer;
}

}  // namespace spanscope::cpu
