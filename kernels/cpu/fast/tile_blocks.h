// SPDX-License-Identifier: GPL-3.0-or-later
// Loops over a block of a product, tile by tile. A template argument computes the product of a tile. Open
// this file to add a fast product.
#pragma once

#include "kernels/cpu/matmul.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace spanscope::cpu {

/// Max rows whose sums fit into registers of AVX-512 at the same time, with the two vectors of a panel.
inline constexpr int kFastRowTile = 12;
/// Output features of a panel: two vectors of AVX-512.
inline constexpr std::int64_t kFastWidth = 32;

/// Returns the functions Product::multiplyTile<rows> for 1, 2, … rows.
template <class Product, int... kRow>
constexpr auto tileTable(std::integer_sequence<int, kRow...> /*unused*/) {
  return std::array{&Product::template multiplyTile<kRow + 1>...};
}

/// Writes the results of a block: the sum in `sums`, plus the bias, plus the former result, in this order.
inline void finishTiles(const MatmulJob& job, std::int64_t firstRow, std::int64_t rows,
                        std::int64_t firstPanel, std::int64_t panels, const float* sums,
                        std::int64_t sumStride) {
  for (std::int64_t r = 0; r < rows; ++r) {
    float* const outRow = job.out + (firstRow + r) * job.features;
    for (std::int64_t p = 0; p < panels; ++p) {
      const float* const sum = sums + p * sumStride + r * kFastWidth;
      const std::int64_t feature = (firstPanel + p) * kFastWidth;
      const std::int64_t count = std::min(kFastWidth, job.features - feature);
      float* const out = outRow + feature;
      if (job.bias == nullptr && !job.accumulate) {
        // The size is known here and nothing overlaps. The copy therefore needs no call.
        if (count == kFastWidth)
          std::memcpy(out, sum, kFastWidth * sizeof(float));
        else
          std::copy_n(sum, count, out);
        continue;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        float value = sum[i];
        if (job.bias != nullptr) value += job.bias[feature + i];
        if (job.accumulate) value += out[i];
        out[i] = value;
      }
    }
  }
}

/// Computes the row tiles [rowBlock · i, …) × panels [panelBlock · j, …) of a job. `Product` is made from a
/// job and scratch memory. `Product` has these members:
/// - kRowTile: max rows of a tile;
/// - take(panel, k, count): a part of a panel in the product's layout;
/// - rowsAt(row, rows, k): a part of a packed tile of rows;
/// - multiply(rows, tile, taken, count, sums, isFirst, isLast): sums[row][width] (+)= Σ over count k. With
///   `isFirst`, the sum starts at 0. `isLast`: the next panel comes after this tile of rows.
template <class Product>
void tileBlock(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) {
  Product product(job, scratch);
  const std::int64_t firstTile = i * job.rowBlock;
  const std::int64_t lastTile = std::min(firstTile + job.rowBlock, job.rowTiles.tiles);
  const std::int64_t firstRow = job.rowTiles.begin(firstTile);
  const std::int64_t rows = job.rowTiles.begin(lastTile) - firstRow;
  const std::int64_t firstPanel = j * job.panelBlock;
  const std::int64_t panels = std::min(job.panelBlock, job.panels - firstPanel);
  const std::int64_t sumStride = job.rowBlock * Product::kRowTile * kFastWidth;
  for (std::int64_t k = 0; k < job.columns; k += job.columnBlock) {
    const std::int64_t count = std::min(job.columnBlock, job.columns - k);
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const auto* const taken = product.take(firstPanel + panel, k, count);
      for (std::int64_t tile = firstTile; tile < lastTile; ++tile) {
        const std::int64_t row = job.rowTiles.begin(tile);
        const std::int64_t tileRows = job.rowTiles.begin(tile + 1) - row;
        product.multiply(tileRows, product.rowsAt(row, tileRows, k), taken, count,
                         scratch.sums + panel * sumStride + (row - firstRow) * kFastWidth, k == 0,
                         tile + 1 == lastTile);
      }
    }
  }
  finishTiles(job, firstRow, rows, firstPanel, panels, scratch.sums, sumStride);
}

}  // namespace spanscope::cpu
