// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/aligned_buffer.h"

#include "engine/base/error.h"

#include <cstdlib>
#include <limits>
#include <string>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace spanscope::cpu {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
// No machine has more memory. Some systems would promise more memory anyway, and checking allocators would
// abort.
constexpr std::size_t kLargestBuffer = std::size_t{1} << 46;
constexpr std::size_t kLargestProduct = std::numeric_limits<std::size_t>::max() / 4;

}  // namespace

AlignedBuffer::AlignedBuffer(std::size_t bytes, const char* what) {
  std::byte* data = nullptr;
  if (bytes <= kLargestBuffer) {
    const std::size_t alignment = bytes >= 2 * kHugePage ? kHugePage : kAlignment;
    const std::size_t rounded = (bytes + kTail + alignment - 1) / alignment * alignment;
    data = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
#ifdef __linux__
    // Weights are streamed: with small pages the address translation costs a tenth of the bandwidth.
    if (data != nullptr && alignment == kHugePage) madvise(data, rounded, MADV_HUGEPAGE);
#endif
  }
  if (data == nullptr) {
    throw Failure(Error{"", what, "not enough memory", std::to_string(bytes) + " bytes"});
  }
  m_data.reset(data, [](std::byte* memory) { std::free(memory); });  // NOLINT: from std::aligned_alloc
  m_size = bytes;
}

std::size_t checkedBytes(const char* what, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  std::size_t product = 1;
  for (const std::int64_t factor : {a, b, c, d}) {
    if (factor < 0) {
      throw Failure(Error{"", what, "a size of " + std::to_string(factor), "a size of 0 or more"});
    }
    if (factor != 0 && product > kLargestProduct / static_cast<std::size_t>(factor)) {
      throw Failure(Error{"", what,
                          std::to_string(a) + " × " + std::to_string(b) + " × " + std::to_string(c) + " × " +
                              std::to_string(d) + " bytes",
                          "a size that fits the address space"});
    }
    product *= static_cast<std::size_t>(factor);
  }
  return product;
}

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
