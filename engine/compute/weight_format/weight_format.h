// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the formats in which checkpoints store weights. Plain formats store each element separately. Packed
// formats store blocks of elements as small codes and shared factors. The definitions are those of ggml
// (ggml-quants.c, the Python package gguf). The tests compare every format with ggml. Open this file to add a
// format.
#pragma once

#include "engine/compute/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace spanscope::compute {

/// The names are those of GGUF. The digit is the number of bits of a code. _K marks blocks of 256 elements.
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
  IQ4_XS
};

/// The value of an element is (factor · scale) · value of its code, plus (minimum · part's minimum). Each
/// product and the sum are rounded to f32. Without a scale, the first product uses 1. Without minima, the sum
/// has one term.
struct PackedRule {
  std::int32_t bits = 0;           ///< of a code: 2, 3, 4, 5, 6 or 8; 0 for plain formats
  std::int32_t partElements = 32;  ///< elements that share a scale; it divides the elements of a block
  std::int32_t offset = 0;         ///< the value of a code is code − offset, if there is no table
  bool hasTable = false;
  std::array<std::int8_t, 16> table{};  ///< the value of a code is table[code], if there is a table
  bool hasScales = false;               ///< whether each part has a scale
  bool hasMinimum = false;              ///< whether the block has a minimum
  bool hasMinima = false;  ///< whether each part has a minimum, too; the product of both is subtracted
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
  std::int32_t factorAt = 0;   ///< offset in bytes of the factor in a packed block; the factor is in f16
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
/// Returns null if the number is no known format.
const WeightFormatInfo* findGgufType(std::uint32_t number);

/// Returns the format whose elements have this type, and the reverse. Packed formats have no such type.
WeightFormat formatOf(DType type);
std::optional<DType> dtypeOf(WeightFormat format);

/// Returns the bytes of `elements` elements, which must be a whole number of blocks.
std::size_t bytesOf(WeightFormat format, std::int64_t elements);

/// Splits one block of a packed format into its parts.
void takeApart(const WeightFormatInfo& info, const std::byte* block, PackedParts& parts);

/// Writes `elements` values to `out`. They must be a whole number of blocks. `data` may have any alignment.
void widen(WeightFormat format, const std::byte* data, std::int64_t elements, float* out);

/// Returns the first block with a factor or minimum that is not finite, or nothing. For packed formats.
std::optional<std::int64_t> findBlockNotFinite(WeightFormat format, const std::byte* data,
                                               std::int64_t blocks);

}  // namespace spanscope::compute
