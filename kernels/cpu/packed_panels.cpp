// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/packed_panels.h"

#include "kernels/cpu/panel_blocks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace spanscope::cpu {
namespace {

using compute::WeightFormatInfo;

constexpr std::int64_t kMostPart = 32;

/// Bits of a code in the lower plane; the rest lies in the upper one.
int lowBits(int bits) {
  return bits == 8 ? 8 : bits >= 4 ? 4 : 2;
}

/// The codes of a part, [k][width].
using Codes = std::array<std::uint8_t, kMostPart * kMostPanelWidth>;

using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr std::size_t kSide = 16;

/// Turns sixteen rows of sixteen bytes over: four times, each row of the first half and that of the second
/// are dealt out in turn.
std::array<Bytes, kSide> turned(std::array<Bytes, kSide> rows) {
  for (int round = 0; round < 4; ++round) {
    std::array<Bytes, kSide> dealt;
    for (std::size_t i = 0; i < kSide / 2; ++i) {
      const Bytes a = rows[i];
      const Bytes b = rows[i + kSide / 2];
      dealt[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      dealt[2 * i + 1] =
          __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    rows = dealt;
  }
  return rows;
}

void turnCodes(const PanelBlocks& blocks, std::int64_t first, std::int64_t count, std::int64_t width,
               Codes& codes) {
  constexpr auto kStep = static_cast<std::int64_t>(kSide);
  if (width % kStep != 0) {
    for (std::int64_t feature = 0; feature < width; ++feature) {
      const std::uint8_t* const of = blocks[static_cast<std::size_t>(feature)].codes + first;
      for (std::int64_t k = 0; k < count; ++k) codes[static_cast<std::size_t>(k * width + feature)] = of[k];
    }
    return;
  }
  for (std::int64_t feature = 0; feature < width; feature += kStep) {
    for (std::int64_t k = 0; k < count; k += kStep) {
      std::array<Bytes, kSide> rows;
      for (std::size_t i = 0; i < kSide; ++i)
        std::memcpy(&rows[i], blocks[static_cast<std::size_t>(feature) + i].codes + first + k, sizeof(Bytes));
      rows = turned(rows);
      for (std::size_t i = 0; i < kSide; ++i)
        std::memcpy(codes.data() + (k + static_cast<std::int64_t>(i)) * width + feature, &rows[i],
                    sizeof(Bytes));
    }
  }
}

/// Writes `half` bytes, each of which join(at) makes of codes: at(offset) is that many codes further on.
/// Where there are sixteen, at once.
template <class Join>
void putPlane(const std::uint8_t* codes, std::int64_t half, std::uint8_t* plane, const Join& join) {
  constexpr auto kStep = static_cast<std::int64_t>(kSide);
  if (half % kStep != 0) {
    for (std::int64_t i = 0; i < half; ++i)
      plane[i] = static_cast<std::uint8_t>(
          join([&](std::int64_t offset) { return static_cast<unsigned>(codes[i + offset]); }));
    return;
  }
  for (std::int64_t i = 0; i < half; i += kStep) {
    const Bytes joined = join([&](std::int64_t offset) {
      Bytes bytes;
      std::memcpy(&bytes, codes + i + offset, sizeof bytes);
      return bytes;
    });
    std::memcpy(plane + i, &joined, sizeof joined);
  }
}

// Each of these writes a plane of some bits, from `kFirst` on, of the codes of a group.

void putFours(const std::uint8_t* codes, std::int64_t half, std::uint8_t* plane) {
  for (std::int64_t k = 0; k < kPackedGroup; ++k)
    putPlane(codes + 2 * k * half, half, plane + k * half,
             [&](const auto& at) { return (at(0) & 15) | (at(half) << 4); });
}

template <unsigned kFirst>
void putTwos(const std::uint8_t* codes, std::int64_t half, std::uint8_t* plane) {
  for (std::int64_t k = 0; k < kPackedGroup; k += 2) {
    putPlane(codes + 2 * k * half, half, plane + k / 2 * half, [&](const auto& at) {
      const auto bits = [&](std::int64_t offset) { return at(offset) >> kFirst & 3; };
      return bits(0) | (bits(half) << 2) | (bits(2 * half) << 4) | (bits(3 * half) << 6);
    });
  }
}

template <unsigned kFirst>
void putOnes(const std::uint8_t* codes, std::int64_t half, std::uint8_t* plane) {
  putPlane(codes, half, plane, [&](const auto& at) {
    const auto bit = [&](int place) { return (at(place * half) >> kFirst & 1) << place; };
    return bit(0) | bit(1) | bit(2) | bit(3) | bit(4) | bit(5) | bit(6) | bit(7);
  });
}

void putGroup(int bits, const PackedPanelShape& shape, const std::uint8_t* codes, std::byte* group) {
  auto* const plane = reinterpret_cast<std::uint8_t*>(group);
  std::uint8_t* const upper = plane + shape.lowBytes;
  const std::int64_t half = shape.width / 2;
  switch (bits) {
    case 8:
      std::copy_n(codes, kPackedGroup * shape.width, plane);
      return;
    case 6:
      putFours(codes, half, plane);
      return putTwos<4>(codes, half, upper);
    case 5:
      putFours(codes, half, plane);
      return putOnes<4>(codes, half, upper);
    case 4:
      return putFours(codes, half, plane);
    case 3:
      putTwos<0>(codes, half, plane);
      return putOnes<2>(codes, half, upper);
    default:
      return putTwos<0>(codes, half, plane);
  }
}

void packCodes(const WeightFormatInfo& info, const PackedPanelShape& shape, const PanelBlocks& blocks,
               std::int64_t part, std::byte* out) {
  Codes codes;
  turnCodes(blocks, part * shape.partElements, shape.partElements, shape.width, codes);
  for (std::int64_t k = 0; k < shape.partElements; k += kPackedGroup, out += shape.groupBytes)
    putGroup(info.rule.bits, shape, codes.data() + k * shape.width, out);
}

}  // namespace

PackedPanelShape packedPanelShape(const WeightFormatInfo& info, std::int64_t width) {
  const compute::PackedRule& rule = info.rule;
  PackedPanelShape shape;
  shape.width = width;
  shape.blockElements = info.blockElements;
  shape.partElements = rule.partElements;
  shape.headBytes = 2 * width * (rule.hasMinimum ? 2 : 1);
  shape.partHeadBytes = width * ((rule.hasScales ? 1 : 0) + (rule.hasMinima ? 1 : 0));
  shape.lowBytes = kPackedGroup * width * lowBits(rule.bits) / 8;
  shape.groupBytes = kPackedGroup * width * rule.bits / 8;
  shape.partBytes = shape.partHeadBytes + shape.partElements / kPackedGroup * shape.groupBytes;
  shape.blockBytes = shape.headBytes + shape.blockElements / shape.partElements * shape.partBytes;
  return shape;
}

void packPanel(const compute::HostMatrix& matrix, const PackedPanelShape& shape, std::int64_t panel,
               std::int64_t k, std::int64_t columns, std::byte* out) {
  const WeightFormatInfo& info = compute::infoOf(matrix.format);
  packBlocks(matrix, shape, shape.width, panel, k, columns, out,
             [&](const PanelBlocks& blocks, std::int64_t part, std::byte* codes) {
               packCodes(info, shape, blocks, part, codes);
             });
}

}  // namespace spanscope::cpu
