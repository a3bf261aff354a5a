// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/fast_kernels.h"

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/tile_blocks.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
namespace spanscope::cpu {
namespace {

constexpr std::int64_t kPairElements = 2;
constexpr std::int64_t kLanesOfVector = 16;

std::int64_t pairsOf(std::int64_t columns) {
  return (columns + 1) / kPairElements;
}

/// sums[row][32] (+)= Σ over `pairs` pairs of rows[pair][row] and panel[pair][32]. A pair is a word: the even
/// element in its lower half. If `isLast`, the memory after the panel is prefetched meanwhile.
template <int kRows>
void multiplyPairs(const std::uint32_t* rows, const std::uint32_t* panel, std::int64_t pairs, float* sums,
                   bool isFirst, bool isLast) {
  __m512 acc[kRows][2];
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    acc[r][0] = isFirst ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + r * kFastWidth);
    acc[r][1] = isFirst ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + r * kFastWidth + kLanesOfVector);
  }
  const std::int64_t ahead = isLast && kRows > 1 ? pairs * kFastWidth : 0;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const auto first = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel));
    const auto second = reinterpret_cast<__m512bh>(_mm512_loadu_si512(panel + kLanesOfVector));
    if constexpr (kRows > 1) {  // a single row needs no prefetch
      _mm_prefetch(reinterpret_cast<const char*>(panel + ahead), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(panel + ahead + kLanesOfVector), _MM_HINT_T0);
    }
#pragma GCC unroll 12
    for (int r = 0; r < kRows; ++r) {
      const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(rows[r])));
      acc[r][0] = _mm512_dpbf16_ps(acc[r][0], first, x);
      acc[r][1] = _mm512_dpbf16_ps(acc[r][1], second, x);
    }
    rows += kRows;
    panel += kFastWidth;
  }
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(sums + r * kFastWidth, acc[r][0]);
    _mm512_storeu_ps(sums + r * kFastWidth + kLanesOfVector, acc[r][1]);
  }
}

/// Rounds a row to bf16 and writes its pairs, `stride` words apart.
void packPairs(const float* x, std::int64_t columns, std::int64_t stride, std::uint32_t* out) {
  constexpr std::int64_t kPairs = kLanesOfVector / kPairElements;
  alignas(32) std::uint32_t words[kPairs];
  for (std::int64_t k = 0; k < columns; k += kLanesOfVector) {
    const std::int64_t count = std::min(kLanesOfVector, columns - k);
    const auto mask = static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1U);
    const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, x + k));
    std::memcpy(words, &rounded, sizeof words);
    for (std::int64_t pair = 0; pair < pairsOf(count); ++pair) {
      *out = words[pair];
      out += stride;
    }
  }
}

class PairProduct {
 public:
  static constexpr int kRowTile = kFastRowTile;

  PairProduct(const MatmulJob& job, const MatmulScratch& scratch)
      : m_rows(reinterpret_cast<const std::uint32_t*>(job.packedRows)),
        m_weights(*job.weight, kFastWidth, scratch.arranged),
        m_pairs(pairsOf(job.columns)) {}

  const std::uint32_t* take(std::int64_t panel, std::int64_t k, std::int64_t count) const {
    return reinterpret_cast<const std::uint32_t*>(m_weights.take(panel, 1, k, count));
  }
  const std::uint32_t* rowsAt(std::int64_t row, std::int64_t rows, std::int64_t k) const {
    return m_rows + row * m_pairs + k / kPairElements * rows;
  }
  void multiply(std::int64_t rows, const std::uint32_t* tile, const std::uint32_t* panel, std::int64_t count,
                float* sums, bool isFirst, bool isLast) const {
    static constexpr auto kTable = tileTable<PairProduct>(std::make_integer_sequence<int, kRowTile>());
    kTable[static_cast<std::size_t>(rows - 1)](tile, panel, count, sums, isFirst, isLast);
  }
  template <int kRows>
  static void multiplyTile(const std::uint32_t* tile, const std::uint32_t* panel, std::int64_t count,
                           float* sums, bool isFirst, bool isLast) {
    multiplyPairs<kRows>(tile, panel, pairsOf(count), sums, isFirst, isLast);
  }

 private:
  const std::uint32_t* m_rows;
  PanelParts m_weights;
  std::int64_t m_pairs;
};

std::int64_t packedRowBytes(const CpuWeight& weight) {
  return pairsOf(weight.columns()) * static_cast<std::int64_t>(sizeof(std::uint32_t));
}

void packRows(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
              std::int64_t last, std::byte* packed) {
  const std::int64_t columns = weight.columns();
  const std::int64_t pairs = pairsOf(columns);
  for (std::int64_t tile = first; tile < last; ++tile) {
    const std::int64_t begin = rowTiles.begin(tile);
    const std::int64_t rows = rowTiles.begin(tile + 1) - begin;
    auto* const out = reinterpret_cast<std::uint32_t*>(packed) + begin * pairs;
    for (std::int64_t row = 0; row < rows; ++row)
      packPairs(x + (begin + row) * columns, columns, rows, out + row);
  }
}

}  // namespace

MatmulKernels avx512PairKernels() {
  return {.panelWidth = kFastWidth,
          .rowTile = kFastRowTile,
          .mostPanels = 1,
          .packedRowBytes = &packedRowBytes,
          .packRows = &packRows,
          .block = &tileBlock<PairProduct>};
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES
#endif
