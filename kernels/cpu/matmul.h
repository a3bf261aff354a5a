// SPDX-License-Identifier: GPL-3.0-or-later
// Products of activations and packed weights.
//
// Every element of the result is one chain of multiply-adds over k = 0 … K − 1 in f32, then + bias, then +
// what was there. Vectors run across output features, a chain is never split, and where work is cut along k
// the sum so far is stored and taken up again. So a row's bits do not depend on the other rows, on tiles or
// on threads.
#pragma once

#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/tensor.h"
#include "kernels/cpu/weight.h"

#include <cstdint>

namespace spanscope::cpu {

/// Rows cut into tiles of nearly equal height: three rows beside six would leave half of the multipliers
/// idle.
struct RowTiles {
  std::int64_t rows = 0;
  std::int64_t tiles = 0;

  /// First row of a tile; of the tile after the last, the number of rows.
  std::int64_t begin(std::int64_t tile) const {
    return tile * (rows / tiles) + (tile < rows % tiles ? tile : rows % tiles);
  }
};

/// One product, cut into blocks of rowBlock row tiles × panelBlock panels.
struct MatmulJob {
  const float* packedRows = nullptr;  ///< [row tiles][columns][rows of the tile]
  const CpuWeight* weight = nullptr;
  const float* bias = nullptr;  ///< [features] or null
  float* out = nullptr;         ///< [rows][features]
  RowTiles rowTiles;
  std::int64_t columns = 0;
  std::int64_t features = 0;
  std::int64_t panels = 0;
  std::int64_t rowBlock = 0;  ///< in row tiles
  std::int64_t panelBlock = 0;
  std::int64_t columnBlock = 0;
  bool accumulate = false;
};

/// The code for one instruction set.
struct MatmulKernels {
  std::int64_t panelWidth = 0;  ///< output features in a panel: two vectors
  std::int64_t rowTile = 0;     ///< most rows whose sums are in registers at once
  std::int64_t mostPanels = 0;  ///< panels that go through at once when rows are few
  /// Packs tiles first … last − 1 of the rows at x, each [columns][rows of the tile].
  void (*packRows)(const float* x, const RowTiles& rowTiles, std::int64_t first, std::int64_t last,
                   std::int64_t columns, float* packed) = nullptr;
  /// Computes row tiles [rowBlock · i, …) × panels [panelBlock · j, …); `sums` has room for rowBlock ·
  /// rowTile rows × panelBlock · panelWidth.
  void (*block)(const MatmulJob& job, std::int64_t i, std::int64_t j, float* sums) = nullptr;
};

/// The kernels for the best instruction set of this machine.
MatmulKernels matmulKernels();

/// Matrix products with their scratch memory.
class Matmul {
 public:
  Matmul() : m_kernels(matmulKernels()) {}

  std::int64_t panelWidth() const { return m_kernels.panelWidth; }
  /// out = x · weightᵀ (+ bias) (+ out). `weight` is in panels, `bias` one row of f32 or null.
  void run(Executor& executor, const CpuTensor& x, const CpuWeight& weight, const CpuWeight* bias,
           bool accumulate, CpuTensor& out);

 private:
  void runRows(Executor& executor, const float* x, MatmulJob& job);

  MatmulKernels m_kernels;
  AlignedBuffer m_packedRows;
  AlignedBuffer m_sums;
};

}  // namespace spanscope::cpu
