// SPDX-License-Identifier: GPL-3.0-or-later
// Quantizes activations for products of bytes. Open this file to change the rounding of activations.
#pragma once

#include "engine/compute/weight_format/weight_format.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/weight.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

/// The layout of four activations of a group in a tile. Bytes: one after the other. Words: 16 bits each, the
/// first beside the third and the second beside the fourth. A mask and a shift split the bytes of a weight's
/// group in the same way.
enum class ByteRowLayout : std::uint8_t { Bytes, Words };

/// Number of activations that share a factor.
inline constexpr std::int64_t kByteRowBlock = 32;

/// Bytes of a part of a tile with R rows. A tile has for each part of the weight along k, in order:
/// - the initial sums, which include the offset of the codes, [R] 32-bit integers;
/// - the factors, [R] f32;
/// - the sums of the part's activations, [R] f32;
/// - the integers: for bytes [groups of the part][R][4], for words [groups of the part][2][R][2].
constexpr std::int64_t byteRowPartBytes(std::int64_t partElements, ByteRowLayout layout) {
  return 3 * static_cast<std::int64_t>(sizeof(float)) +
         partElements * (layout == ByteRowLayout::Words ? 2 : 1);
}

inline std::int64_t byteRowBytes(const CpuWeight& weight, ByteRowLayout layout) {
  const std::int64_t part = compute::infoOf(weight.format()).rule.partElements;
  return weight.columns() / part * byteRowPartBytes(part, layout);
}

/// Returns the bytes for tile registers. A tile of R rows has the integers, [parts][R][elements of the part].
/// After R · columns bytes, the tile has [parts][2][R] f32: the factors, and the sums of the part's
/// activations.
std::int64_t byteTileRowBytes(const CpuWeight& weight);

/// Like MatmulKernels::packRows.
void packByteRows(const CpuWeight& weight, ByteRowLayout layout, const float* x, const RowTiles& rowTiles,
                  std::int64_t first, std::int64_t last, std::byte* packed);
void packByteTiles(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
                   std::int64_t last, std::byte* packed);

}  // namespace spanscope::cpu
