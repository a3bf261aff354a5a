// SPDX-License-Identifier: GPL-3.0-or-later
// Unpacks panels of bytes with AVX-512, for products with AVX512_VNNI and with AMX_INT8. Open this file to
// speed up unpacking.
#pragma once

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/byte_blocks.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq")
namespace spanscope::cpu::avx512 {

using compute::PackedRule;
using compute::WeightFormat;

inline constexpr std::int64_t kGroup = BytePanelShape::kGroup;
inline constexpr std::int64_t kVector = BytePanelShape::kVector;
inline constexpr std::int64_t kFeatures = 16;  ///< of a vector of groups

/// The bytes in a product: as stored, or minus the format's offset.
enum class Codes : std::uint8_t { Unsigned, Signed };

// An unpacked part has the codes as [groups][2] vectors, and then the factors as [32] f32. If the format has
// minima, the minima follow as [32] f32.

constexpr std::int64_t takenBytesOf(std::int64_t partElements) {
  return partElements * kFastWidth + 2 * kFastWidth * static_cast<std::int64_t>(sizeof(float));
}

inline __m512 halves(const std::byte* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
/// For factors in bf16.
inline __m512 upperHalves(const std::byte* at) {
  const __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
  return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}
inline __m512 signedBytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}
inline __m512 unsignedBytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}

/// Returns the values of the table as unsigned bytes.
template <WeightFormat kFormat>
__m512i tableVector() {
  alignas(16) std::uint8_t values[16];
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<std::uint8_t>(kRuleOf<kFormat>.table[i] + 128);
  return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(values)));
}

inline __m512i vectorAt(const std::byte* plane, std::int64_t vector) {
  return _mm512_loadu_si512(plane + vector * kVector);
}

/// Returns `mask` of each byte, shifted right by `shift` bits.
inline __m512i bitsOf(__m512i bytes, unsigned shift, int mask) {
  return _mm512_and_si512(_mm512_srli_epi16(bytes, shift), _mm512_set1_epi8(static_cast<char>(mask)));
}

/// Returns the codes of a vector of a group, as unsigned bytes.
template <WeightFormat kFormat>
__m512i codesOf(const std::byte* low, const std::byte* high, std::int64_t group, unsigned vector) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  const auto pair = static_cast<unsigned>(group % 2 * 2) + vector;  // place in a vector of two-bit codes
  if constexpr (kRule.bits == 8) return vectorAt(low, 2 * group + vector);
  __m512i codes = kRule.bits >= 4 ? bitsOf(vectorAt(low, group), 4 * vector, 15)
                                  : bitsOf(vectorAt(low, group / 2), 2 * pair, 3);
  if constexpr (kRule.bits == 6) {
    const __m512i upper = bitsOf(vectorAt(high, group / 2), 2 * pair, 3);
    codes = _mm512_or_si512(codes, _mm512_slli_epi16(upper, 4));
  }
  if constexpr (kRule.bits == 5 || kRule.bits == 3) {
    const auto place = static_cast<unsigned>(group % 4 * 2) + vector;
    const __m512i upper = bitsOf(vectorAt(high, group / 4), place, 1);
    codes = _mm512_or_si512(codes, _mm512_slli_epi16(upper, kRule.bits - 1));
  }
  if constexpr (kRule.hasTable) codes = _mm512_shuffle_epi8(tableVector<kFormat>(), codes);
  return codes;
}

/// Returns the codes of the two vectors of each group of a part.
template <WeightFormat kFormat, Codes kCodes>
void takeCodes(const BytePart& place, std::byte* out) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  constexpr int kOffset = kCodes == Codes::Unsigned ? 0 : kRule.hasTable ? 128 : kRule.offset;
#pragma GCC unroll 8
  for (std::int64_t group = 0; group < kRule.partElements / kGroup; ++group) {
#pragma GCC unroll 2
    for (unsigned vector = 0; vector < 2; ++vector) {
      __m512i codes = codesOf<kFormat>(place.low, place.high, group, vector);
      if constexpr (kOffset != 0)
        codes = _mm512_sub_epi8(codes, _mm512_set1_epi8(static_cast<char>(kOffset)));
      _mm512_store_si512(out, codes);
      out += kVector;
    }
  }
}

/// Returns the factors of the part's 16 features from `feature` on.
template <WeightFormat kFormat>
HWY_INLINE __m512 factorsOf(const BytePart& place, std::int64_t feature) {
  const std::byte* const at = place.block + 2 * feature;
  __m512 factors;
  if constexpr (kRuleOf<kFormat>.isPowerOfTwo)
    factors = upperHalves(at);
  else
    factors = halves(at);
  if constexpr (kRuleOf<kFormat>.hasScales) return _mm512_mul_ps(factors, signedBytes(place.part + feature));
  return factors;
}
template <WeightFormat kFormat>
HWY_INLINE __m512 minimaOf(const BytePart& place, std::int64_t feature) {
  const __m512 minima = halves(place.block + 2 * (kFastWidth + feature));
  if constexpr (kRuleOf<kFormat>.hasMinima) {
    const __m512 product = _mm512_mul_ps(minima, unsignedBytes(place.part + kFastWidth + feature));
    return _mm512_sub_ps(_mm512_setzero_ps(), product);
  }
  return minima;
}

/// Unpacks elements k … k + count − 1 of a panel. The range must have whole parts.
template <WeightFormat kFormat, Codes kCodes>
void takeParts(const BytePanelShape& shape, const std::byte* panel, std::int64_t k, std::int64_t count,
               std::byte* out) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  for (std::int64_t part = k / kRule.partElements; part < (k + count) / kRule.partElements; ++part) {
    const BytePart place(shape, panel, part);
    takeCodes<kFormat, kCodes>(place, out);
    auto* const factors = reinterpret_cast<float*>(out + kRule.partElements * kFastWidth);
    for (std::int64_t feature = 0; feature < kFastWidth; feature += kFeatures) {
      _mm512_store_ps(factors + feature, factorsOf<kFormat>(place, feature));
      if constexpr (kRule.hasMinimum)
        _mm512_store_ps(factors + kFastWidth + feature, minimaOf<kFormat>(place, feature));
    }
    out += takenBytesOf(kRule.partElements);
  }
}

}  // namespace spanscope::cpu::avx512
HWY_POP_ATTRIBUTES
#endif
