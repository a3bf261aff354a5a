// SPDX-License-Identifier: GPL-3.0-or-later
// Shared code of the layouts of packed panels: one block of all features at a time. Open this file to add a
// panel layout.
#pragma once

#include "engine/compute/backend.h"
#include "engine/compute/weight_format/weight_format.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace spanscope::cpu {

inline constexpr std::int64_t kMostPanelWidth = 32;

/// A block of each feature of a panel, in separate arrays. Features beyond the matrix are zeros.
using PanelBlocks = std::array<compute::PackedParts, kMostPanelWidth>;

/// Packs `columns` columns of a panel from k on, both whole blocks. `shape` has the numbers of bytes. Each
/// block gets these bytes in order:
/// - the factors and minima of all features, in f16 (factors that are powers of two: in bf16);
/// - for each part: the scales and the parts' minima, a byte each, then the output of packCodes(blocks, part,
///   out).
template <class Shape, class PackCodes>
void packBlocks(const compute::HostMatrix& matrix, const Shape& shape, std::int64_t width, std::int64_t panel,
                std::int64_t k, std::int64_t columns, std::byte* out, const PackCodes& packCodes) {
  // Rows are far apart. The code therefore prefetches the next bytes of each row, line by line.
  constexpr std::int64_t kAheadOfRow = 256;
  constexpr std::int64_t kLine = 64;
  const compute::WeightFormatInfo& info = compute::infoOf(matrix.format);
  const std::int64_t first = panel * width;
  const std::int64_t features = std::min(width, matrix.rows - first);
  const auto rowBytes = static_cast<std::int64_t>(matrix.rowBytes());
  const std::byte* source = matrix.row(first) + k / shape.blockElements * info.blockBytes;
  PanelBlocks blocks;
  if (features < width) {
    std::fill_n(out, shape.panelBytes(columns), std::byte{0});
    blocks.fill({});
  }
  for (std::int64_t left = columns / shape.blockElements; left > 0; --left) {
    for (std::int64_t feature = 0; feature < features; ++feature) {
      const std::byte* const ahead = source + feature * rowBytes + kAheadOfRow;
      for (std::int64_t at = 0; at < info.blockBytes; at += kLine) __builtin_prefetch(ahead + at);
    }
    info.takeCodes({source, rowBytes, features}, blocks.data());
    for (std::int64_t feature = 0; feature < features; ++feature) {
      const std::byte* const own = source + feature * rowBytes;
      const std::uint16_t factor = compute::factorBits(info, own);
      std::memcpy(out + 2 * feature, &factor, sizeof factor);
      if (info.rule.hasMinimum) std::memcpy(out + 2 * (width + feature), own + info.minimumAt, 2);
    }
    for (std::int64_t part = 0; part < shape.blockElements / shape.partElements; ++part) {
      std::byte* at = out + shape.headBytes + part * shape.partBytes;
      for (std::int64_t i = 0; info.rule.hasScales && i < width; ++i)
        *at++ = static_cast<std::byte>(blocks[static_cast<std::size_t>(i)].scales[part]);
      for (std::int64_t i = 0; info.rule.hasMinima && i < width; ++i)
        *at++ = static_cast<std::byte>(blocks[static_cast<std::size_t>(i)].minima[part]);
      packCodes(blocks, part, at);
    }
    out += shape.blockBytes;
    source += info.blockBytes;
  }
}

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
