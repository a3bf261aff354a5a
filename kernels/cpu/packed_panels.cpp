// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/packed_panels.h"

#include "kernels/cpu/panel_blocks.h"

#include <array>
#include <cstring>
#include <type_traits>

namespace spanscope::cpu {
namespace {

using compute::WeightFormatInfo;

constexpr std::int64_t kMostPart = 32;

/// Bits of a code in the lower plane. The remaining bits are in the upper plane.
int lowBits(int bits) {
  return bits == 8 ? 8 : bits >= 4 ? 4 : 2;
}

using Bytes = std::uint8_t __attribute__((vector_size(16)));
constexpr std::size_t kSide = 16;

/// Transposes sixteen rows of sixteen bytes. Four rounds interleave each row of the first half with a row of
/// the second half.
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

/// Writes `count` codes of each feature from `first` on as [k][width].
void turnCodes(const PanelBlocks& blocks, std::int64_t first, std::int64_t count, std::int64_t width,
               std::uint8_t* codes) {
  constexpr auto kStep = static_cast<std::int64_t>(kSide);
  if (width % kStep != 0) {
    for (std::int64_t feature = 0; feature < width; ++feature) {
      const std::uint8_t* const of = blocks[static_cast<std::size_t>(feature)].codes + first;
      for (std::int64_t k = 0; k < count; ++k) codes[k * width + feature] = of[k];
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
        std::memcpy(codes + (k + static_cast<std::int64_t>(i)) * width + feature, &rows[i], sizeof(Bytes));
    }
  }
}

/// The codes of several features in one word, a byte each.
template <class Word>
Word loadWord(const std::uint8_t* codes) {
  Word word;
  std::memcpy(&word, codes, sizeof word);
  return word;
}

/// The same byte in each place of a word.
template <class Word>
constexpr Word inEach(unsigned byte) {
  return static_cast<Word>(static_cast<Word>(~Word{0}) / 0xFFU * byte);
}

/// Writes `half` bytes. join(at) makes each byte from codes, and at(offset) reads the code `offset` codes
/// further. No bit may leave its byte. Writes eight or four bytes at a time if possible.
template <class Half, class Join>
void putPlane(const std::uint8_t* codes, Half half, std::uint8_t* plane, const Join& join) {
  const auto put = [&]<class Word>(Word /*kind*/) {
    for (std::int64_t i = 0; i < half; i += static_cast<std::int64_t>(sizeof(Word))) {
      const auto joined =
          static_cast<Word>(join([&](std::int64_t offset) { return loadWord<Word>(codes + i + offset); }));
      std::memcpy(plane + i, &joined, sizeof joined);
    }
  };
  if (half % 8 == 0)
    put(std::uint64_t{});
  else if (half % 4 == 0)
    put(std::uint32_t{});
  else
    put(std::uint8_t{});
}

/// `kBits` bits of each code from `kFirst` on, in the lowest place.
template <unsigned kFirst, unsigned kBits, class Word>
Word bitsOf(Word codes) {
  return static_cast<Word>(codes >> kFirst & inEach<Word>((1U << kBits) - 1));
}

// Each function writes a plane of some bits, from `kFirst` on, of the codes of a group. `half` of a panel's
// width is a number or, for loops without a count, a constant.

template <class Half>
void putFours(const std::uint8_t* codes, Half half, std::uint8_t* plane) {
  for (std::int64_t k = 0; k < kPackedGroup; ++k)
    putPlane(codes + 2 * k * half, half, plane + k * half,
             [&](const auto& at) { return bitsOf<0, 4>(at(0)) | bitsOf<0, 4>(at(half)) << 4; });
}

template <unsigned kFirst, class Half>
void putTwos(const std::uint8_t* codes, Half half, std::uint8_t* plane) {
  for (std::int64_t k = 0; k < kPackedGroup; k += 2) {
    putPlane(codes + 2 * k * half, half, plane + k / 2 * half, [&](const auto& at) {
      const auto bits = [&](int place) { return bitsOf<kFirst, 2>(at(place * half)) << (2 * place); };
      return bits(0) | bits(1) | bits(2) | bits(3);
    });
  }
}

template <unsigned kFirst, class Half>
void putOnes(const std::uint8_t* codes, Half half, std::uint8_t* plane) {
  putPlane(codes, half, plane, [&](const auto& at) {
    const auto bit = [&](int place) { return bitsOf<kFirst, 1>(at(place * half)) << place; };
    return bit(0) | bit(1) | bit(2) | bit(3) | bit(4) | bit(5) | bit(6) | bit(7);
  });
}

template <class Half>
void putPlanes(int bits, const PackedPanelShape& shape, const std::uint8_t* codes, Half half,
               std::byte* group) {
  auto* const plane = reinterpret_cast<std::uint8_t*>(group);
  std::uint8_t* const upper = plane + shape.lowBytes;
  switch (bits) {
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

void putGroup(int bits, const PackedPanelShape& shape, const std::uint8_t* codes, std::byte* group) {
  switch (shape.width) {
    case 32:
      return putPlanes(bits, shape, codes, std::integral_constant<std::int64_t, 16>{}, group);
    case 16:
      return putPlanes(bits, shape, codes, std::integral_constant<std::int64_t, 8>{}, group);
    default:
      return putPlanes(bits, shape, codes, shape.width / 2, group);
  }
}

void packCodes(const WeightFormatInfo& info, const PackedPanelShape& shape, const PanelBlocks& blocks,
               std::int64_t part, std::byte* out) {
  const std::int64_t first = part * shape.partElements;
  // Whole bytes have no planes.
  if (info.rule.bits == 8)
    return turnCodes(blocks, first, shape.partElements, shape.width, reinterpret_cast<std::uint8_t*>(out));
  std::array<std::uint8_t, kMostPart * kMostPanelWidth> codes;
  turnCodes(blocks, first, shape.partElements, shape.width, codes.data());
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
