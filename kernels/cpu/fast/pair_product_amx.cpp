// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/fast_kernels.h"

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/amx_tiles.h"
#include "kernels/cpu/fast/tile_blocks.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
namespace spanscope::cpu {
namespace {

// A step is the range of k in one tile. A packed tile of R rows holds [steps][R][32] bf16 elements, the last
// step filled with zeros.
constexpr std::int64_t kStep = 32;
constexpr std::int64_t kLanes = 16;
// A step of a panel, [16 pairs][32 features][2].
constexpr std::int64_t kPanelPairBytes = kFastWidth * 4;
constexpr std::int64_t kPanelStepBytes = kStep / 2 * kPanelPairBytes;

std::int64_t stepsOf(std::int64_t columns) {
  return (columns + kStep - 1) / kStep;
}

/// Adds the sums of one step to the sums of `rows` rows.
template <bool kHasLower>
void addStep(const std::byte* rows, const std::byte* panel) {
  loadTile<Tile::LeftWeights>(panel, kPanelPairBytes);
  loadTile<Tile::UpperRows>(rows, kTileRowBytes);
  addPairs<Tile::UpperLeft, Tile::UpperRows, Tile::LeftWeights>();
  loadTile<Tile::RightWeights>(panel + kTileRowBytes, kPanelPairBytes);
  addPairs<Tile::UpperRight, Tile::UpperRows, Tile::RightWeights>();
  if constexpr (kHasLower) {
    loadTile<Tile::LowerRows>(rows + kTileRows * kTileRowBytes, kTileRowBytes);
    addPairs<Tile::LowerLeft, Tile::LowerRows, Tile::LeftWeights>();
    addPairs<Tile::LowerRight, Tile::LowerRows, Tile::RightWeights>();
  }
}

constexpr std::int64_t kSumStride = kFastWidth * static_cast<std::int64_t>(sizeof(float));

template <bool kHasLower>
void loadSums(const float* sums, bool isFirst) {
  if (isFirst) {
    clearTile<Tile::UpperLeft>();
    clearTile<Tile::UpperRight>();
    if constexpr (kHasLower) {
      clearTile<Tile::LowerLeft>();
      clearTile<Tile::LowerRight>();
    }
    return;
  }
  loadTile<Tile::UpperLeft>(sums, kSumStride);
  loadTile<Tile::UpperRight>(sums + kLanes, kSumStride);
  if constexpr (kHasLower) {
    const float* const lower = sums + kTileRows * kFastWidth;
    loadTile<Tile::LowerLeft>(lower, kSumStride);
    loadTile<Tile::LowerRight>(lower + kLanes, kSumStride);
  }
}

template <bool kHasLower>
void storeSums(float* sums) {
  storeTile<Tile::UpperLeft>(sums, kSumStride);
  storeTile<Tile::UpperRight>(sums + kLanes, kSumStride);
  if constexpr (kHasLower) {
    float* const lower = sums + kTileRows * kFastWidth;
    storeTile<Tile::LowerLeft>(lower, kSumStride);
    storeTile<Tile::LowerRight>(lower + kLanes, kSumStride);
  }
}

/// How many bytes ahead of the arithmetic the weights are prefetched for few rows. These weights come from
/// memory.
constexpr std::int64_t kAhead = 2 * kPanelStepBytes;

void fetchStep(const std::byte* panel) {
  for (std::int64_t line = 0; line < kPanelStepBytes; line += kTileRowBytes)
    _mm_prefetch(reinterpret_cast<const char*>(panel + line), _MM_HINT_T0);
}

/// sums[row][32] (+)= Σ over `count` k of packed rows and a panel. If `isLast`, the memory after the panel is
/// prefetched meanwhile.
template <bool kHasLower>
void multiplySteps(std::int64_t rows, const std::byte* tile, const std::byte* panel, std::int64_t count,
                   float* sums, bool isFirst, bool isLast) {
  loadSums<kHasLower>(sums, isFirst);
  const std::int64_t whole = count / kStep;
  for (std::int64_t step = 0; step < whole; ++step) {
    if constexpr (!kHasLower)
      fetchStep(panel + kAhead);
    else if (isLast)
      fetchStep(panel + whole * kPanelStepBytes);
    addStep<kHasLower>(tile, panel);
    tile += rows * kTileRowBytes;
    panel += kPanelStepBytes;
  }
  if (const std::int64_t left = count % kStep; left > 0) {
    // The panel ends here.
    alignas(64) std::byte filled[kPanelStepBytes] = {};
    std::memcpy(filled, panel, static_cast<std::size_t>((left + 1) / 2 * kPanelPairBytes));
    addStep<kHasLower>(tile, filled);
  }
  storeSums<kHasLower>(sums);
}

class AmxPairProduct {
 public:
  static constexpr int kRowTile = 2 * kTileRows;

  AmxPairProduct(const MatmulJob& job, const MatmulScratch& scratch)
      : m_rows(job.packedRows),
        m_rowBytes(stepsOf(job.columns) * kTileRowBytes),
        m_weights(*job.weight, kFastWidth, scratch.arranged) {}

  const std::byte* take(std::int64_t panel, std::int64_t k, std::int64_t count) const {
    return m_weights.take(panel, 1, k, count);
  }
  const std::byte* rowsAt(std::int64_t row, std::int64_t rows, std::int64_t k) const {
    return m_rows + row * m_rowBytes + k / kStep * rows * kTileRowBytes;
  }
  void multiply(std::int64_t rows, const std::byte* tile, const std::byte* panel, std::int64_t count,
                float* sums, bool isFirst, bool isLast) {
    m_registers.fit(rows);
    if (rows > kTileRows)
      multiplySteps<true>(rows, tile, panel, count, sums, isFirst, isLast);
    else
      multiplySteps<false>(rows, tile, panel, count, sums, isFirst, isLast);
  }

 private:
  const std::byte* m_rows;
  std::int64_t m_rowBytes;
  PanelParts m_weights;
  TileRegisters m_registers{kTileRowBytes};
};

std::int64_t packedRowBytes(const CpuWeight& weight) {
  return stepsOf(weight.columns()) * kTileRowBytes;
}

/// Rounds a row to bf16 and writes its steps, `stride` bytes apart.
void packSteps(const float* x, std::int64_t columns, std::int64_t stride, std::byte* out) {
  for (std::int64_t k = 0; k < columns; k += kStep) {
    for (std::int64_t half = 0; half < 2; ++half) {
      const std::int64_t count = std::clamp<std::int64_t>(columns - k - half * kLanes, 0, kLanes);
      const auto mask = static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1U);
      const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, x + k + half * kLanes));
      std::memcpy(out + half * kTileRowBytes / 2, &rounded, sizeof rounded);
    }
    out += stride;
  }
}

void packRows(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
              std::int64_t last, std::byte* packed) {
  const std::int64_t columns = weight.columns();
  for (std::int64_t tile = first; tile < last; ++tile) {
    const std::int64_t begin = rowTiles.begin(tile);
    const std::int64_t rows = rowTiles.begin(tile + 1) - begin;
    std::byte* const out = packed + begin * packedRowBytes(weight);
    for (std::int64_t row = 0; row < rows; ++row)
      packSteps(x + (begin + row) * columns, columns, rows * kTileRowBytes, out + row * kTileRowBytes);
  }
}

}  // namespace

MatmulKernels amxPairKernels() {
  return {.panelWidth = kFastWidth,
          .rowTile = AmxPairProduct::kRowTile,
          .mostPanels = 1,
          .packedRowBytes = &packedRowBytes,
          .packRows = &packRows,
          .block = &tileBlock<AmxPairProduct>};
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES
#endif
