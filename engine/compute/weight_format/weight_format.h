// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the formats in which checkpoints store weights. Plain formats store each element separately. Packed
// formats store blocks of elements as small codes and shared factors. The definitions come from ggml
// (ggml-quants.c, the Python package gguf). The tests compare every format with ggml. One table lists all
// formats, and kernels take its rules as constants. Open this file to add a format.
#pragma once

#include "engine/compute/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spanscope::compute {

/// The names come from GGUF. The digit is the number of bits of a code. _K marks blocks of 256 elements.
enum class WeightFormat : std::uint8_t {
  F32,
  F16,
  BF16,
  Q8_0,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4
};

/// The value of an element is (factor · scale) · value of its code, plus (minimum · part's minimum). Each
/// product and the sum are rounded to f32. Without a scale, the first product uses 1. Without minima, the sum
/// has one term.
struct PackedRule {
  std::int32_t bits = 0;  ///< of a code: 2, 3, 4, 5, 6 or 8; 0 for plain formats
  std::int32_t partElements =
      32;                   ///< elements that share a scale; this number divides the elements of a block
  std::int32_t offset = 0;  ///< the value of a code is code − offset, if there is no table
  bool hasTable = false;
  std::array<std::int8_t, 16> table{};  ///< the value of a code is table[code], if there is a table
  bool hasScales = false;               ///< whether each part has a scale
  bool hasMinimum = false;              ///< whether the block has a minimum
  bool isPowerOfTwo = false;  ///< whether the factor is 2^(byte − 128) of one byte; otherwise, it is in f16
  bool hasMinima = false;     ///< whether each part has a minimum, too; the product of both is subtracted
};

/// The contents of a block in separate arrays. The elements are in the order of the row.
struct PackedParts {
  static constexpr std::size_t kMostElements = 256;
  static constexpr std::size_t kMostParts = 16;
  float factor = 0;
  float minimum = 0;
  std::int8_t scales[kMostParts]{};
  std::uint8_t minima[kMostParts]{};
  std::uint8_t codes[kMostElements];  ///< one per element of the block; the rest is not set
};

/// One block of each of several rows. `stride` is the number of bytes between two blocks.
struct BlockColumn {
  const std::byte* first = nullptr;
  std::int64_t stride = 0;
  std::int64_t count = 1;
};

struct WeightFormatInfo {
  WeightFormat format = WeightFormat::F32;
  const char* name = "";           ///< the spelling of GGUF: "Q4_K"
  std::uint32_t ggufType = 0;      ///< number of the type in GGUF files
  std::int32_t blockElements = 1;  ///< a row is a whole number of blocks
  std::int32_t blockBytes = 0;
  PackedRule rule{};           ///< for packed formats
  std::int32_t factorAt = 0;   ///< offset in bytes of the factor in a packed block
  std::int32_t minimumAt = 0;  ///< offset in bytes of the minimum, if the format has one.
  /// Takes scales, minima and codes out of blocks, each into one of `parts`. Null for plain formats. See
  /// takeApart().
  void (*takeCodes)(const BlockColumn& blocks, PackedParts* parts) = nullptr;

  constexpr bool isPacked() const { return rule.bits != 0; }
};

/// All formats, in the order of the enumeration.
std::span<const WeightFormatInfo> weightFormats();
const WeightFormatInfo& infoOf(WeightFormat format);
inline const char* nameOf(WeightFormat format) {
  return infoOf(format).name;
}
/// Returns null for an unknown number.
const WeightFormatInfo* findGgufType(std::uint32_t number);

/// Convert between a plain format and the type of its elements. Packed formats have no such type.
WeightFormat formatOf(DType type);
std::optional<DType> dtypeOf(WeightFormat format);

/// Returns the bytes of `elements` elements, which must be a whole number of blocks.
std::size_t bytesOf(WeightFormat format, std::int64_t elements);

/// Splits one block of a packed format into its parts.
void takeApart(const WeightFormatInfo& info, const std::byte* block, PackedParts& parts);

/// Writes `elements` values to `out`. `elements` must be a whole number of blocks. `data` may have any
/// alignment.
void widen(WeightFormat format, const std::byte* data, std::int64_t elements, float* out);

/// Returns the first block with a factor or minimum that is not finite, or nothing. For packed formats.
std::optional<std::int64_t> findBlockNotFinite(WeightFormat format, const std::byte* data,
                                               std::int64_t blocks);

/// Returns the factor of a block in two bytes, as panels have it: f16, or bf16 for powers of two. Both are
/// exact.
std::uint16_t factorBits(const WeightFormatInfo& info, const std::byte* block);
/// Writes the factor of a block. Powers of two are rounded up to the next.
void storeFactor(const WeightFormatInfo& info, float factor, std::byte* block);

// The places of scales, minima and codes in the blocks of each packed format. Numbers are little-endian.

/// The values of the codes of IQ4_NL and IQ4_XS.
inline constexpr std::array<std::int8_t, 16> kNonLinearValues = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                                 1,    13,   25,  38,  53,  69,  89,  113};

/// Twice the values of the codes of MXFP4, so that all values are whole numbers.
inline constexpr std::array<std::int8_t, 16> kDoubledFloats = {0, 1,  2,  3,  4,  6,  8,  12,
                                                               0, -1, -2, -3, -4, -6, -8, -12};

// Blocks of 32 elements.
void takeCodesQ8_0(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ4_0(const BlockColumn& blocks, PackedParts* parts);  ///< and IQ4_NL
void takeCodesQ4_1(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ5_0(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ5_1(const BlockColumn& blocks, PackedParts* parts);
void takeCodesMXFP4(const BlockColumn& blocks, PackedParts* parts);

// Blocks of 256 elements.
void takeCodesQ2_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ3_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ4_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ5_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesQ6_K(const BlockColumn& blocks, PackedParts* parts);
void takeCodesIQ4_XS(const BlockColumn& blocks, PackedParts* parts);

inline constexpr std::int32_t kSmallBlock = 32;
inline constexpr std::int32_t kLargeBlock = 256;

constexpr WeightFormatInfo plainFormat(WeightFormat format, const char* name, std::uint32_t type,
                                       std::int32_t bytes) {
  return {.format = format, .name = name, .ggufType = type, .blockElements = 1, .blockBytes = bytes};
}

constexpr WeightFormatInfo packedFormat(WeightFormat format, const char* name, std::uint32_t type,
                                        std::int32_t elements, std::int32_t bytes, const PackedRule& rule,
                                        void (*takeCodes)(const BlockColumn& blocks, PackedParts* parts),
                                        std::int32_t factorAt = 0, std::int32_t minimumAt = 0) {
  return {.format = format,
          .name = name,
          .ggufType = type,
          .blockElements = elements,
          .blockBytes = bytes,
          .rule = rule,
          .factorAt = factorAt,
          .minimumAt = minimumAt,
          .takeCodes = takeCodes};
}

/// In the order of the enumeration.
inline constexpr std::array<WeightFormatInfo, 16> kWeightFormats = {{
    plainFormat(WeightFormat::F32, "F32", 0, 4),
    plainFormat(WeightFormat::F16, "F16", 1, 2),
    plainFormat(WeightFormat::BF16, "BF16", 30, 2),
    packedFormat(WeightFormat::Q8_0, "Q8_0", 8, kSmallBlock, 34, {.bits = 8, .offset = 128}, &takeCodesQ8_0),
    packedFormat(WeightFormat::Q4_0, "Q4_0", 2, kSmallBlock, 18, {.bits = 4, .offset = 8}, &takeCodesQ4_0),
    packedFormat(WeightFormat::Q4_1, "Q4_1", 3, kSmallBlock, 20, {.bits = 4, .hasMinimum = true},
                 &takeCodesQ4_1, 0, 2),
    packedFormat(WeightFormat::Q5_0, "Q5_0", 6, kSmallBlock, 22, {.bits = 5, .offset = 16}, &takeCodesQ5_0),
    packedFormat(WeightFormat::Q5_1, "Q5_1", 7, kSmallBlock, 24, {.bits = 5, .hasMinimum = true},
                 &takeCodesQ5_1, 0, 2),
    packedFormat(WeightFormat::Q2_K, "Q2_K", 10, kLargeBlock, 84,
                 {.bits = 2, .partElements = 16, .hasScales = true, .hasMinimum = true, .hasMinima = true},
                 &takeCodesQ2_K, 80, 82),
    packedFormat(WeightFormat::Q3_K, "Q3_K", 11, kLargeBlock, 110,
                 {.bits = 3, .partElements = 16, .offset = 4, .hasScales = true}, &takeCodesQ3_K, 108),
    packedFormat(WeightFormat::Q4_K, "Q4_K", 12, kLargeBlock, 144,
                 {.bits = 4, .hasScales = true, .hasMinimum = true, .hasMinima = true}, &takeCodesQ4_K, 0, 2),
    packedFormat(WeightFormat::Q5_K, "Q5_K", 13, kLargeBlock, 176,
                 {.bits = 5, .hasScales = true, .hasMinimum = true, .hasMinima = true}, &takeCodesQ5_K, 0, 2),
    packedFormat(WeightFormat::Q6_K, "Q6_K", 14, kLargeBlock, 210,
                 {.bits = 6, .partElements = 16, .offset = 32, .hasScales = true}, &takeCodesQ6_K, 208),
    packedFormat(WeightFormat::IQ4_NL, "IQ4_NL", 20, kSmallBlock, 18,
                 {.bits = 4, .hasTable = true, .table = kNonLinearValues}, &takeCodesQ4_0),
    packedFormat(WeightFormat::IQ4_XS, "IQ4_XS", 23, kLargeBlock, 136,
                 {.bits = 4, .hasTable = true, .table = kNonLinearValues, .hasScales = true},
                 &takeCodesIQ4_XS),
    packedFormat(WeightFormat::MXFP4, "MXFP4", 39, kSmallBlock, 17,
                 {.bits = 4, .hasTable = true, .table = kDoubledFloats, .isPowerOfTwo = true},
                 &takeCodesMXFP4),
}};

}  // namespace spanscope::compute
