// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/fast_kernels.h"

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/byte_parts_avx512.h"

#include <immintrin.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")
namespace spanscope::cpu {
namespace {

using compute::PackedRule;
using compute::WeightFormat;
using namespace avx512;

/// Adds to each of 16 sums the products of four unsigned bytes and four signed bytes. With the intrinsic
/// function, GCC would copy the sums back and forth. The copies take more time than the instruction.
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
    // Without this fence, the compiler would keep the sums in memory, because they exceed the registers.
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
}

/// The same sums for few rows and a whole panel, whose parts are unpacked during the multiplication.
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
    takeParts<kFormat, Codes::Unsigned>(shape, panel, k, count, out);
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
  static void block(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
    byteBlockOf<VnniKernel<kFormat>>(job, i, j, scratch);
  }
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
