// SPDX-License-Identifier: GPL-3.0-or-later
// Activations as products of bytes take them.
#pragma once

#include "engine/compute/weight_format/weight_format.h"
#include "kernels/cpu/matmul.h"
#include "kernels/cpu/weight.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

/// How four activations of a group stand in a tile. Bytes: one after the other. Words: in 16 bits each, the
/// first beside the third and the second beside the fourth, which is how the bytes of a weight's group come
/// apart with a mask and a shift.
enum class ByteRowLayout : std::uint8_t { Bytes, Words };

/// Activations that share a factor.
inline constexpr std::int64_t kByteRowBlock = 32;

/// A tile of R rows holds, part by part of the weight along k: the initial sums, which take the offset of the
/// codes into account, [R] 32-bit integers; the factors, [R] f32; the sums of the part's activations, [R]
/// f32; and the integers, of bytes [groups of the part][R][4], of words [groups of the part][2][R][2].
constexpr std::int64_t byteRowPartBytes(std::int64_t partElements, ByteRowLayout layout) {
  return 3 * static_cast<std::int64_t>(sizeof(float)) +
         partElements * (layout == ByteRowLayout::Words ? 2 : 1);
}

inline std::int64_t byteRowBytes(const CpuWeight& weight, ByteRowLayout layout) {
  const std::int64_t part = compute::infoOf(weight.format()).rule.partElements;
  return weight.columns() / part * byteRowPartBytes(part, layout);
}

/// As tile registers take them. A tile of R rows holds the integers, [parts][R][elements of the part], and
/// from R · columns bytes on [parts][2][R] f32: the factors, and the sums of the part's activations.
std::int64_t byteTileRowBytes(const CpuWeight& weight);

/// As MatmulKernels::packRows.
void packByteRows(const CpuWeight& weight, ByteRowLayout layout, const float* x, const RowTiles& rowTiles,
                  std::int64_t first, std::int64_t last, std::byte* packed);
void packByteTiles(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
                   std::int64_t last, std::byte* packed);

}  // namespace spanscope::cpu
