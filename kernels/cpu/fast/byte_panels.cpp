// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/byte_panels.h"

#include "kernels/cpu/panel_blocks.h"

#include <array>
#include <cstring>

namespace spanscope::cpu {
namespace {

using compute::WeightFormatInfo;

constexpr std::int64_t kWidth = BytePanelShape::kWidth;
constexpr std::int64_t kHalf = kWidth / 2;
constexpr std::int64_t kMostGroups = 8;
constexpr std::int64_t kGroupsOfOnes = 4;  ///< groups for which a vector has one bit of each code

/// Bits of a code in the lower planes. The remaining bits are in the upper planes.
int lowBitsOf(int bits) {
  return bits == 8 ? 8 : bits >= 4 ? 4 : 2;
}

/// For each group of a part and each feature, the codes of four k, a byte each.
using GroupWords = std::array<std::array<std::uint32_t, kWidth>, kMostGroups>;

/// Writes the words of a part, whose codes begin at `first`, to out[group][feature].
void turnCodes(const PanelBlocks& blocks, std::int64_t first, std::int64_t groups, std::uint32_t* out) {
  for (std::int64_t feature = 0; feature < kWidth; feature += kSquare) {
    for (std::int64_t group = 0; group < groups; group += kSquare) {
      WordSquare rows;
      for (std::int64_t i = 0; i < kSquare; ++i) {
        const std::uint8_t* const codes = blocks[static_cast<std::size_t>(feature + i)].codes;
        rows[static_cast<std::size_t>(i)] = loadVector<Words>(codes + first + group * BytePanelShape::kGroup);
      }
      rotationSquare(rows, kWidth, out + group * kWidth + feature);
    }
  }
}

/// Returns kBits bits from kFirst on of each byte.
template <unsigned kFirst, unsigned kBits>
std::uint32_t bitsOf(std::uint32_t word) {
  constexpr std::uint32_t kMask = 0x01010101U * ((1U << kBits) - 1U);
  return (word >> kFirst) & kMask;
}

void putWord(std::byte* plane, std::int64_t index, std::uint32_t word) {
  std::memcpy(plane + 4 * index, &word, sizeof word);
}

// Each function writes the planes of some bits of a part. A word of a vector has the four k of a feature.

void putFours(const GroupWords& words, std::int64_t groups, std::byte* plane) {
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::uint32_t* const of = words[static_cast<std::size_t>(group)].data();
    for (std::int64_t i = 0; i < kHalf; ++i)
      putWord(plane, group * kHalf + i, bitsOf<0, 4>(of[i]) | bitsOf<0, 4>(of[i + kHalf]) << 4U);
  }
}

template <unsigned kFirst>
void putTwos(const GroupWords& words, std::int64_t groups, std::byte* plane) {
  for (std::int64_t group = 0; group < groups; group += 2) {
    const std::uint32_t* const of = words[static_cast<std::size_t>(group)].data();
    const std::uint32_t* const next = words[static_cast<std::size_t>(group + 1)].data();
    for (std::int64_t i = 0; i < kHalf; ++i) {
      putWord(plane, group / 2 * kHalf + i,
              bitsOf<kFirst, 2>(of[i]) | bitsOf<kFirst, 2>(of[i + kHalf]) << 2U |
                  bitsOf<kFirst, 2>(next[i]) << 4U | bitsOf<kFirst, 2>(next[i + kHalf]) << 6U);
    }
  }
}

template <unsigned kFirst>
void putOnes(const GroupWords& words, std::int64_t groups, std::byte* plane) {
  for (std::int64_t group = 0; group < groups; group += kGroupsOfOnes) {
    for (std::int64_t i = 0; i < kHalf; ++i) {
      std::uint32_t joined = 0;
      for (std::int64_t j = 0; j < kGroupsOfOnes; ++j) {
        const std::uint32_t* const of = words[static_cast<std::size_t>(group + j)].data();
        joined |= bitsOf<kFirst, 1>(of[i]) << (2 * j) | bitsOf<kFirst, 1>(of[i + kHalf]) << (2 * j + 1);
      }
      putWord(plane, group / kGroupsOfOnes * kHalf + i, joined);
    }
  }
}

void putCodes(int bits, std::int64_t lowBytes, const GroupWords& words, std::int64_t groups,
              std::byte* planes) {
  std::byte* const upper = planes + lowBytes;
  switch (bits) {
    case 6:
      putFours(words, groups, planes);
      return putTwos<4>(words, groups, upper);
    case 5:
      putFours(words, groups, planes);
      return putOnes<4>(words, groups, upper);
    case 4:
      return putFours(words, groups, planes);
    case 3:
      putTwos<0>(words, groups, planes);
      return putOnes<2>(words, groups, upper);
    default:
      return putTwos<0>(words, groups, planes);
  }
}

void packCodes(const WeightFormatInfo& info, const BytePanelShape& shape, const PanelBlocks& blocks,
               std::int64_t part, std::byte* out) {
  const std::int64_t first = part * shape.partElements;
  // Whole bytes have no planes.
  if (info.rule.bits == 8)
    return turnCodes(blocks, first, shape.groups(), reinterpret_cast<std::uint32_t*>(out));
  GroupWords words;
  turnCodes(blocks, first, shape.groups(), words.front().data());
  putCodes(info.rule.bits, shape.lowBytes, words, shape.groups(), out);
}

}  // namespace

BytePanelShape bytePanelShape(const WeightFormatInfo& info) {
  const compute::PackedRule& rule = info.rule;
  BytePanelShape shape;
  shape.blockElements = info.blockElements;
  shape.partElements = rule.partElements;
  shape.headBytes = 2 * kWidth * (rule.hasMinimum ? 2 : 1);
  shape.partHeadBytes = kWidth * ((rule.hasScales ? 1 : 0) + (rule.hasMinima ? 1 : 0));
  shape.lowBytes = shape.partElements * kWidth * lowBitsOf(rule.bits) / 8;
  shape.partBytes = shape.partHeadBytes + shape.partElements * kWidth * rule.bits / 8;
  shape.blockBytes = shape.headBytes + shape.parts() * shape.partBytes;
  return shape;
}

void packBytePanel(const compute::HostMatrix& matrix, const BytePanelShape& shape, std::int64_t panel,
                   std::int64_t k, std::int64_t columns, std::byte* out) {
  const WeightFormatInfo& info = compute::infoOf(matrix.format);
  packBlocks(matrix, shape, kWidth, panel, k, columns, out,
             [&](const PanelBlocks& blocks, std::int64_t part, std::byte* codes) {
               packCodes(info, shape, blocks, part, codes);
             });
}

}  // namespace spanscope::cpu
