// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/fast_limits.h"

#include "kernels/cpu/fast/low_precision.h"

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/amx_tiles.h"

#include <immintrin.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")
namespace spanscope::cpu {
namespace {

// The number of independent sums of a tile of rows.
constexpr int kChains = 24;
constexpr double kLanes = 16;
constexpr int kAvx2Chains = 12;

double multiplyPairs(std::int64_t rounds, float* sink) {
  __m512 sums[kChains];
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(*sink + static_cast<float>(i));
  const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3F003F00));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (__m512& sum : sums) sum = _mm512_dpbf16_ps(sum, factor, factor);
  }
  __m512 total = sums[0];
#pragma GCC unroll 24
  for (int i = 1; i < kChains; ++i) total = _mm512_add_ps(total, sums[i]);
  *sink = _mm512_cvtss_f32(total);
  return 2.0 * 2.0 * kLanes * kChains * static_cast<double>(rounds);
}

double multiplyBytes(std::int64_t rounds, float* sink) {
  __m512i sums[kChains];
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_epi32(static_cast<int>(*sink) + i);
  const __m512i factor = _mm512_set1_epi32(0x01010101);
  for (std::int64_t round = 0; round < rounds; ++round) {
    // Inline assembly, because GCC would copy the sums around the intrinsic function.
#pragma GCC unroll 24
    for (__m512i& sum : sums) asm("vpdpbusd %1, %1, %0" : "+v"(sum) : "v"(factor));
  }
  __m512i total = sums[0];
#pragma GCC unroll 24
  for (int i = 1; i < kChains; ++i) total = _mm512_add_epi32(total, sums[i]);
  *sink = static_cast<float>(_mm512_cvtsi512_si32(total) & 1);
  return 2.0 * 4.0 * kLanes * kChains * static_cast<double>(rounds);
}

}  // namespace
}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES

HWY_PUSH_ATTRIBUTES("avx2,fma")
namespace spanscope::cpu {
namespace {

/// Sums in 16 bits. Sums in 16 bits have the highest rate. Codes of few bits come near to this rate.
double multiplyBytesAvx2(std::int64_t rounds, float* sink) {
  __m256i sums[kAvx2Chains];
#pragma GCC unroll 12
  for (int i = 0; i < kAvx2Chains; ++i)
    sums[i] = _mm256_set1_epi16(static_cast<std::int16_t>(static_cast<int>(*sink) + i));
  const __m256i factor = _mm256_set1_epi8(1);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m256i& sum : sums) {
      __m256i products;
      // Inline assembly, because GCC would notice that the products are the same every time.
      asm volatile("vpmaddubsw %2, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(sum), "=&x"(products) : "x"(factor));
    }
  }
  __m256i total = sums[0];
#pragma GCC unroll 12
  for (int i = 1; i < kAvx2Chains; ++i) total = _mm256_add_epi16(total, sums[i]);
  *sink = static_cast<float>(_mm256_extract_epi16(total, 0) & 1);
  return 2.0 * 2.0 * kLanes * kAvx2Chains * static_cast<double>(rounds);
}

double multiplyBytesAvxVnni(std::int64_t rounds, float* sink) {
  __m256i sums[kAvx2Chains];
#pragma GCC unroll 12
  for (int i = 0; i < kAvx2Chains; ++i) sums[i] = _mm256_set1_epi32(static_cast<int>(*sink) + i);
  const __m256i factor = _mm256_set1_epi8(1);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m256i& sum : sums) asm("%{vex%} vpdpbusd %1, %1, %0" : "+x"(sum) : "x"(factor));
  }
  __m256i total = sums[0];
#pragma GCC unroll 12
  for (int i = 1; i < kAvx2Chains; ++i) total = _mm256_add_epi32(total, sums[i]);
  *sink = static_cast<float>(_mm256_extract_epi32(total, 0) & 1);
  return 2.0 * 2.0 * kLanes * kAvx2Chains * static_cast<double>(rounds);
}

}  // namespace
}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES

namespace spanscope::cpu {
namespace {

constexpr int kTilesOfSums = 4;
/// Multiply-adds of a tile for each row and feature. Whole rows of a tile have the same number of bytes.
template <int kElementBytes>
double tileOperations(std::int64_t rounds) {
  constexpr double kFeatures = kTileRowBytes / 4.0;
  return 2.0 * kTilesOfSums * kTileRows * kFeatures * kTileRowBytes / kElementBytes *
         static_cast<double>(rounds);
}

double multiplyPairTiles(std::int64_t rounds, float* sink) {
  TileRegisters registers(kTileRowBytes);
  registers.fit(2 * kTileRows);
  for (std::int64_t round = 0; round < rounds; ++round) {
    addPairs<Tile::UpperLeft, Tile::UpperRows, Tile::LeftWeights>();
    addPairs<Tile::UpperRight, Tile::UpperRows, Tile::RightWeights>();
    addPairs<Tile::LowerLeft, Tile::LowerRows, Tile::LeftWeights>();
    addPairs<Tile::LowerRight, Tile::LowerRows, Tile::RightWeights>();
  }
  *sink = 0;
  return tileOperations<2>(rounds);
}

double multiplyByteTiles(std::int64_t rounds, float* sink) {
  TileRegisters registers(kTileRowBytes);
  registers.fit(2 * kTileRows);
  for (std::int64_t round = 0; round < rounds; ++round) {
    addBytes<Tile::UpperLeft, Tile::UpperRows, Tile::LeftWeights>();
    addBytes<Tile::UpperRight, Tile::UpperRows, Tile::RightWeights>();
    addBytes<Tile::LowerLeft, Tile::LowerRows, Tile::LeftWeights>();
    addBytes<Tile::LowerRight, Tile::LowerRows, Tile::RightWeights>();
  }
  *sink = 0;
  return tileOperations<1>(rounds);
}

}  // namespace

FastLimitKernels fastLimitKernels() {
  const LowPrecision has = lowPrecision();
  FastLimitKernels kernels;
  if (has.pairDots == PairDots::Amx) kernels.multiplyPairs = &multiplyPairTiles;
  if (has.byteDots == ByteDots::Amx) kernels.multiplyBytes = &multiplyByteTiles;
  if (has.pairDots == PairDots::Avx512) kernels.multiplyPairs = &multiplyPairs;
  if (has.byteDots == ByteDots::Vnni) kernels.multiplyBytes = &multiplyBytes;
  if (has.byteDots == ByteDots::AvxVnni) kernels.multiplyBytes = &multiplyBytesAvxVnni;
  if (has.byteDots == ByteDots::Avx2) kernels.multiplyBytes = &multiplyBytesAvx2;
  return kernels;
}

}  // namespace spanscope::cpu

#else

namespace spanscope::cpu {

FastLimitKernels fastLimitKernels() {
  return {};
}

}  // namespace spanscope::cpu

#endif
