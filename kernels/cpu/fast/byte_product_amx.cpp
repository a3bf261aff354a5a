// SPDX-License-Identifier: GPL-3.0-or-later
// The sums of a part are exact integers, so any way of computing these sums gives the same bits. For few
// rows, the kernels for AVX512_VNNI compute the sums.
#include "kernels/cpu/fast/fast_kernels.h"

#if defined(__x86_64__)
#include "hwy/base.h"
#include "kernels/cpu/fast/amx_tiles.h"
#include "kernels/cpu/fast/byte_parts_avx512.h"

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq")
namespace spanscope::cpu {
namespace {

using compute::PackedRule;
using compute::WeightFormat;
using namespace avx512;

/// Max rows for which AVX512_VNNI is used instead.
constexpr std::int64_t kFewRows = 4;
constexpr int kMostRows = 2 * kTileRows;
constexpr std::int64_t kDotStride = kFastWidth * static_cast<std::int64_t>(sizeof(std::int32_t));
/// Max parts whose integer sums are scaled together. Each float sum is then loaded and stored once for all
/// parts.
constexpr int kTogether = 4;

/// A packed tile of rows, from some part on.
struct TileRows {
  std::int64_t rows;
  const std::byte* codes;
  const float* heads;  ///< [parts][2][rows]: factors, sums
};

struct alignas(64) PartDots {
  std::int32_t of[kMostRows][kFastWidth];
};

/// Sums of integers of a part.
template <int kPart, bool kHasLower>
HWY_INLINE void multiplyPart(const std::byte* codes, const std::byte* weights, PartDots& dots) {
  clearTile<Tile::UpperLeft>();
  loadTile<Tile::LeftWeights>(weights, 2 * kVector);
  loadTile<Tile::UpperRows>(codes, kPart);
  addBytes<Tile::UpperLeft, Tile::UpperRows, Tile::LeftWeights>();
  clearTile<Tile::UpperRight>();
  loadTile<Tile::RightWeights>(weights + kVector, 2 * kVector);
  addBytes<Tile::UpperRight, Tile::UpperRows, Tile::RightWeights>();
  if constexpr (kHasLower) {
    clearTile<Tile::LowerLeft>();
    loadTile<Tile::LowerRows>(codes + kTileRows * kPart, kPart);
    addBytes<Tile::LowerLeft, Tile::LowerRows, Tile::LeftWeights>();
    clearTile<Tile::LowerRight>();
    addBytes<Tile::LowerRight, Tile::LowerRows, Tile::RightWeights>();
  }
  storeTile<Tile::UpperLeft>(dots.of[0], kDotStride);
  storeTile<Tile::UpperRight>(dots.of[0] + kFeatures, kDotStride);
  if constexpr (kHasLower) {
    storeTile<Tile::LowerLeft>(dots.of[kTileRows], kDotStride);
    storeTile<Tile::LowerRight>(dots.of[kTileRows] + kFeatures, kDotStride);
  }
}

/// sums[row][32] += the scaled sums of integers of some parts, one after the other.
template <int kParts, int kPart, bool kHasMinimum>
void scaleParts(const TileRows& tile, const std::byte* taken, const PartDots* dots, float* sums) {
  for (std::int64_t vector = 0; vector < 2; ++vector) {
    __m512 weights[kParts];
    __m512 minima[kParts];
#pragma GCC unroll 4
    for (int part = 0; part < kParts; ++part) {
      const auto* const factors =
          reinterpret_cast<const float*>(taken + part * takenBytesOf(kPart) + kPart * kFastWidth) +
          vector * kFeatures;
      weights[part] = _mm512_load_ps(factors);
      if constexpr (kHasMinimum) minima[part] = _mm512_load_ps(factors + kFastWidth);
    }
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      float* const at = sums + row * kFastWidth + vector * kFeatures;
      __m512 sum = _mm512_loadu_ps(at);
#pragma GCC unroll 4
      for (int part = 0; part < kParts; ++part) {
        const float* const head = tile.heads + 2 * part * tile.rows + row;
        const __m512i whole = _mm512_load_si512(dots[part].of[row] + vector * kFeatures);
        const __m512 dot = _mm512_mul_ps(_mm512_cvtepi32_ps(whole), _mm512_set1_ps(head[0]));
        sum = _mm512_fmadd_ps(weights[part], dot, sum);
        if constexpr (kHasMinimum) sum = _mm512_fmadd_ps(minima[part], _mm512_set1_ps(head[tile.rows]), sum);
      }
      _mm512_storeu_ps(at, sum);
    }
  }
}

/// sums[row][32] += Σ over `kParts` parts.
template <int kParts, int kPart, bool kHasMinimum>
void addParts(const TileRows& tile, const std::byte* taken, float* sums) {
  PartDots dots[kParts];
  for (int part = 0; part < kParts; ++part) {
    const std::byte* const codes = tile.codes + part * tile.rows * kPart;
    const std::byte* const weights = taken + part * takenBytesOf(kPart);
    if (tile.rows > kTileRows)
      multiplyPart<kPart, true>(codes, weights, dots[part]);
    else
      multiplyPart<kPart, false>(codes, weights, dots[part]);
  }
  scaleParts<kParts, kPart, kHasMinimum>(tile, taken, dots, sums);
}

template <int kPart, bool kHasMinimum>
void multiplyParts(TileRows tile, const std::byte* taken, std::int64_t parts, float* sums) {
  while (parts > 0) {
    // The numbers are nearly equal, because the sums of a single part take as long as the sums of four parts.
    const std::int64_t turns = (parts + kTogether - 1) / kTogether;
    const std::int64_t count = (parts + turns - 1) / turns;
    switch (count) {
      case 4:
        addParts<4, kPart, kHasMinimum>(tile, taken, sums);
        break;
      case 3:
        addParts<3, kPart, kHasMinimum>(tile, taken, sums);
        break;
      case 2:
        addParts<2, kPart, kHasMinimum>(tile, taken, sums);
        break;
      default:
        addParts<1, kPart, kHasMinimum>(tile, taken, sums);
        break;
    }
    parts -= count;
    taken += count * takenBytesOf(kPart);
    tile.codes += count * tile.rows * kPart;
    tile.heads += count * 2 * tile.rows;
  }
}

/// For tileBlock().
template <WeightFormat kFormat>
class AmxByteProduct {
 public:
  static constexpr int kRowTile = kMostRows;

  AmxByteProduct(const MatmulJob& job, const MatmulScratch& scratch)
      : m_weight(*job.weight),
        m_rows(job.packedRows),
        m_rowBytes(byteTileRowBytes(*job.weight)),
        m_room(scratch.arranged),
        m_taken(reinterpret_cast<std::byte*>(scratch.widened)) {}

  const std::byte* take(std::int64_t panel, std::int64_t k, std::int64_t count) const {
    const PackedPart part(m_weight, panel, k, count, m_room);
    takeParts<kFormat, Codes::Signed>(m_weight.byteShape(), part.panelData, part.k, count, m_taken);
    return m_taken;
  }
  TileRows rowsAt(std::int64_t row, std::int64_t rows, std::int64_t k) const {
    const std::byte* const tile = m_rows + row * m_rowBytes;
    const auto* const heads = reinterpret_cast<const float*>(tile + rows * m_weight.columns());
    return {rows, tile + rows * k, heads + k / kPart * 2 * rows};
  }
  void multiply(std::int64_t rows, const TileRows& tile, const std::byte* taken, std::int64_t count,
                float* sums, bool isFirst, bool /*isLast*/) {
    if (isFirst) std::fill_n(sums, rows * kFastWidth, 0.0F);
    m_registers.fit(rows);
    multiplyParts<kPart, kRuleOf<kFormat>.hasMinimum>(tile, taken, count / kPart, sums);
  }

 private:
  static constexpr int kPart = kRuleOf<kFormat>.partElements;
  const CpuWeight& m_weight;
  const std::byte* m_rows;
  std::int64_t m_rowBytes;
  std::byte* m_room;
  std::byte* m_taken;
  TileRegisters m_registers{kPart};
};

struct Amx {
  template <WeightFormat kFormat>
  static void block(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
    tileBlock<AmxByteProduct<kFormat>>(job, i, j, scratch);
  }
};

std::int64_t packedRowBytes(const CpuWeight& weight) {
  return std::max(byteRowBytes(weight, ByteRowLayout::Bytes), byteTileRowBytes(weight));
}

void packRows(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
              std::int64_t last, std::byte* packed) {
  if (rowTiles.rows <= kFewRows)
    packByteRows(weight, ByteRowLayout::Bytes, x, rowTiles, first, last, packed);
  else
    packByteTiles(weight, x, rowTiles, first, last, packed);
}

void block(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
  if (job.rowTiles.rows <= kFewRows) return vnniByteKernels().block(job, i, j, scratch);
  byteBlock<Amx>(job, i, j, scratch);
}

}  // namespace

MatmulKernels amxByteKernels() {
  return {.panelWidth = kFastWidth,
          .rowTile = kMostRows,
          .mostPanels = 1,
          .packedRowBytes = &packedRowBytes,
          .packRows = &packRows,
          .block = &block};
}

}  // namespace spanscope::cpu
HWY_POP_ATTRIBUTES
#endif
