// SPDX-License-Identifier: GPL-3.0-or-later
// Transposes matrices of 32-bit words. Squares of four words are transposed in registers, and written in
// reading order. Open this file to pack another layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace spanscope::cpu {

using Words = std::uint32_t __attribute__((vector_size(16)));
inline constexpr std::int64_t kSquare = 4;
using WordSquare = std::array<Words, static_cast<std::size_t>(kSquare)>;

template <class Vector>
Vector loadVector(const void* at) {
  Vector vector;
  std::memcpy(&vector, at, sizeof vector);
  return vector;
}

/// Writes rows[i] word j to out[j · stride + i]. The stride is in words.
inline void rotationSquare(const WordSquare& rows, std::int64_t stride, std::uint32_t* out) {
  const Words low01 = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Words high01 = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Words low23 = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Words high23 = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  const WordSquare turned = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5),
                             __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                             __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                             __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (std::int64_t j = 0; j < kSquare; ++j)
    std::memcpy(out + j * stride, &turned[static_cast<std::size_t>(j)], sizeof(Words));
}

}  // namespace spanscope::cpu
