// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/byte_kernels.h"

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/byte_blocks.h"

#include <immintrin.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")
namespace spanscope::cpu {
namespace {

using compute::PackedRule;
using compute::WeightFormat;

constexpr std::int64_t kGroup = BytePanelShape::kGroup;
constexpr std::int64_t kVector = BytePanelShape::kVector;
constexpr std::int64_t kFeatures = 16;  ///< of a vector of groups

// Parts as they are multiplied with hold, one after the other: codes as unsigned bytes, [groups][2]
// vectors; factors, [32] f32; minima, [32] f32, if the format has any.

constexpr std::int64_t takenBytesOf(std::int64_t partElements) {
  return partElements * kFastWidth + 2 * kFastWidth * static_cast<std::int64_t>(sizeof(float));
}

__m512 halves(const std::byte* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
__m512 signedBytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}
__m512 unsignedBytes(const std::byte* at) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}

/// The values of the table as unsigned bytes.
template <WeightFormat kFormat>
__m512i tableVector() {
  alignas(16) std::uint8_t values[16];
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<std::uint8_t>(kRuleOf<kFormat>.table[i] + 128);
  return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(values)));
}

__m512i vectorAt(const std::byte* plane, std::int64_t vector) {
  return _mm512_loadu_si512(plane + vector * kVector);
}

/// `mask` of each byte, shifted down by so many bits.
__m512i bitsOf(__m512i bytes, unsigned shift, int mask) {
  return _mm512_and_si512(_mm512_srli_epi16(bytes, shift), _mm512_set1_epi8(static_cast<char>(mask)));
}

/// The codes of a vector of a group, as unsigned bytes.
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

/// Codes of the two vectors of each group of a part.
template <WeightFormat kFormat>
void takeCodes(const BytePart& place, std::byte* out) {
  constexpr std::int64_t kGroups = kRuleOf<kFormat>.partElements / kGroup;
#pragma GCC unroll 8
  for (std::int64_t group = 0; group < kGroups; ++group) {
    _mm512_store_si512(out, codesOf<kFormat>(place.low, place.high, group, 0));
    _mm512_store_si512(out + kVector, codesOf<kFormat>(place.low, place.high, group, 1));
    out += 2 * kVector;
  }
}

/// Of the part's 16 features from `feature` on.
template <WeightFormat kFormat>
HWY_INLINE __m512 factorsOf(const BytePart& place, std::int64_t feature) {
  const __m512 factors = halves(place.block + 2 * feature);
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

/// Elements k … k + count − 1 of a panel, whole parts.
template <WeightFormat kFormat>
void takeParts(const BytePanelShape& shape, const std::byte* panel, std::int64_t k, std::int64_t count,
               std::byte* out) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  for (std::int64_t part = k / kRule.partElements; part < (k + count) / kRule.partElements; ++part) {
    const BytePart place(shape, panel, part);
    takeCodes<kFormat>(place, out);
    auto* const factors = reinterpret_cast<float*>(out + kRule.partElements * kFastWidth);
    for (std::int64_t feature = 0; feature < kFastWidth; feature += kFeatures) {
      _mm512_store_ps(factors + feature, factorsOf<kFormat>(place, feature));
      if constexpr (kRule.hasMinimum)
        _mm512_store_ps(factors + kFastWidth + feature, minimaOf<kFormat>(place, feature));
    }
    out += takenBytesOf(kRule.partElements);
  }
}

/// Adds to each of 16 sums the products of four unsigned bytes and four signed ones. GCC would copy the sums
/// back and forth around the intrinsic function for this instruction, which takes more time than it does.
HWY_INLINE void addDots(__m512i& sums, __m512i unsignedBytes, __m512i signedBytes) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(unsignedBytes), "v"(signedBytes));
}

/// sums[row][32] (+)= Σ over `parts` parts of a tile of rows and a panel.
template <int kRows, int kPartElements, bool kHasMinimum>
void multiplyParts(const std::byte* rows, const std::byte* panel, std::int64_t parts, float* sums) {
  for (std::int64_t part = 0; part < parts; ++part) {
    const auto* const initial = reinterpret_cast<const std::int32_t*>(rows);
    const auto* const factors = reinterpret_cast<const float*>(rows) + kRows;
    const auto* const rowSums = factors + kRows;
    const auto* codes = initial + 3 * kRows;
    __m512i dots[kRows][2];
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) dots[r][0] = dots[r][1] = _mm512_set1_epi32(initial[r]);
#pragma GCC unroll 1
    for (int group = 0; group < kPartElements / kGroup; ++group) {
      const __m512i first = _mm512_load_si512(panel + (2 * group) * kVector);
      const __m512i second = _mm512_load_si512(panel + (2 * group + 1) * kVector);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m512i x = _mm512_set1_epi32(codes[r]);
        addDots(dots[r][0], first, x);
        addDots(dots[r][1], second, x);
      }
      codes += kRows;
    }
    const auto* const weights = reinterpret_cast<const float*>(panel + kPartElements * kFastWidth);
#pragma GCC unroll 2
    for (int vector = 0; vector < 2; ++vector) {
      const __m512 weight = _mm512_load_ps(weights + vector * kFeatures);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        float* const sum = sums + r * kFastWidth + vector * kFeatures;
        const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[r][vector]), _mm512_set1_ps(factors[r]));
        __m512 value = _mm512_fmadd_ps(weight, dot, _mm512_loadu_ps(sum));
        if constexpr (kHasMinimum) {
          const __m512 minimum = _mm512_load_ps(weights + kFastWidth + vector * kFeatures);
          value = _mm512_fmadd_ps(minimum, _mm512_set1_ps(rowSums[r]), value);
        }
        _mm512_storeu_ps(sum, value);
      }
    }
    rows += byteRowPartBytes(kPartElements, ByteRowLayout::Bytes) * kRows;
    panel += takenBytesOf(kPartElements);
    // The compiler would keep the sums, of which there are more than registers, in memory of its own.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

/// The same for few rows and a whole panel, whose parts are multiplied with as they are taken.
template <WeightFormat kFormat, int kRows>
void multiplyPanel(const BytePanelShape& shape, const std::byte* panel, std::int64_t columns,
                   const std::byte* rows, float* sums) {
  constexpr const PackedRule& kRule = kRuleOf<kFormat>;
  constexpr int kPart = kRule.partElements;
  __m512 acc[kRows][2];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) acc[r][0] = acc[r][1] = _mm512_setzero_ps();
  for (std::int64_t part = 0; part < columns / kPart; ++part) {
    const BytePart place(shape, panel, part);
    const auto* const initial = reinterpret_cast<const std::int32_t*>(rows);
    const auto* const factors = reinterpret_cast<const float*>(rows) + kRows;
    const auto* const codes = initial + 3 * kRows;
    __m512i dots[kRows][2];
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) dots[r][0] = dots[r][1] = _mm512_set1_epi32(initial[r]);
#pragma GCC unroll 8
    for (int group = 0; group < kPart / kGroup; ++group) {
      const __m512i first = codesOf<kFormat>(place.low, place.high, group, 0);
      const __m512i second = codesOf<kFormat>(place.low, place.high, group, 1);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m512i x = _mm512_set1_epi32(codes[group * kRows + r]);
        addDots(dots[r][0], first, x);
        addDots(dots[r][1], second, x);
      }
    }
#pragma GCC unroll 2
    for (int vector = 0; vector < 2; ++vector) {
      const __m512 weight = factorsOf<kFormat>(place, vector * kFeatures);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(dots[r][vector]), _mm512_set1_ps(factors[r]));
        acc[r][vector] = _mm512_fmadd_ps(weight, dot, acc[r][vector]);
        if constexpr (kRule.hasMinimum) {
          acc[r][vector] = _mm512_fmadd_ps(minimaOf<kFormat>(place, vector * kFeatures),
                                           _mm512_set1_ps(factors[kRows + r]), acc[r][vector]);
        }
      }
    }
    rows += byteRowPartBytes(kPart, ByteRowLayout::Bytes) * kRows;
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(sums + r * kFastWidth, acc[r][0]);
    _mm512_storeu_ps(sums + r * kFastWidth + kFeatures, acc[r][1]);
  }
}

template <WeightFormat kOfFormat>
struct VnniKernel {
  static constexpr WeightFormat kFormat = kOfFormat;
  static constexpr int kRowTile = kFastRowTile;
  static constexpr int kMostDirectRows = 4;
  static constexpr int kStreams = 1;
  static constexpr ByteRowLayout kRowLayout = ByteRowLayout::Bytes;

  static void take(const BytePanelShape& shape, const std::byte* panel, std::int64_t k, std::int64_t count,
                   std::byte* out) {
    takeParts<kFormat>(shape, panel, k, count, out);
  }
  template <int kRows>
  static void multiply(const std::byte* rows, const std::byte* taken, std::int64_t parts, float* sums) {
    constexpr const PackedRule& kRule = kRuleOf<kFormat>;
    multiplyParts<kRows, kRule.partElements, kRule.hasMinimum>(rows, taken, parts, sums);
  }
  template <int kRows, std::size_t kPanels>
  static void multiplyPanels(const BytePanelShape& shape, const std::array<const std::byte*, kPanels>& panels,
                             std::int64_t columns, const std::byte* rows,
                             const std::array<float*, kPanels>& sums) {
    static_assert(kPanels == 1);
    multiplyPanel<kFormat, kRows>(shape, panels[0], columns, rows, sums[0]);
  }
};

struct Vnni {
  template <WeightFormat kFormat>
  using Kernel = VnniKernel<kFormat>;
};

std::int64_t packedRowBytes(const CpuWeight& weight) {
  return byteRowBytes(weight, ByteRowLayout::Bytes);
}

void packRows(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
              std::int64_t last, std::byte* packed) {
  packByteRows(weight, ByteRowLayout::Bytes, x, rowTiles, first, last, packed);
}

}  // namespace

MatmulKernels vnniByteKernels() {
  return {.panelWidth = kFastWidth,
          .rowTile = kFastRowTile,
          .mostPanels = 1,
          .packedRowBytes = &packedRowBytes,
          .packRows = &packRows,
          .block = &byteBlock<Vnni>};
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES
#endif
