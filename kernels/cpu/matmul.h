// SPDX-License-Identifier: GPL-3.0-or-later
// Products of activations and packed weights.
//
// Every element of the result is one chain of multiply-adds in f32 over k = 0 … K − 1; then the bias is
// added, then the old value of the element. Vectors run across output features. A chain is never split: if
// work is cut along k, the sum so far is stored and later continued. So the bits of a row do not depend on
// other rows, on tiles or on threads.
#pragma once

#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/tensor.h"
#include "kernels/cpu/weight.h"

#include <cstdint>

namespace spanscope::cpu {

/// Rows are cut into tiles of nearly equal height. Otherwise, tiles of six and three rows would leave half of
/// the multipliers idle in the second tile.
struct RowTiles {
  std::int64_t rows = 0;
  std::int64_t tiles = 0;

  /// First row of a tile. For the tile after the last: the number of rows.
  std::int64_t begin(std::int64_t tile) const {
    return tile * (rows / tiles) + (tile < rows % tiles ? tile : rows % tiles);
  }
};

/// One product. It is cut into blocks of rowBlock row tiles × panelBlock panels.
struct MatmulJob {
  const float* packedRows = nullptr;  ///< [row tiles][columns][rows of the tile]
  const CpuWeight* weight = nullptr;
  const float* bias = nullptr;  ///< [features] or null
  float* out = nullptr;         ///< [rows][features]
  RowTiles rowTiles;
  std::int64_t columns = 0;
  std::int64_t features = 0;
  std::int64_t panels = 0;
  std::int64_t rowBlock = 0;  ///< number of row tiles
  std::int64_t panelBlock = 0;
  std::int64_t columnBlock = 0;
  bool accumulate = false;
};

struct MatmulScratch {
  float* sums = nullptr;     ///< rowBlock · rowTile rows × panelBlock · panelWidth
  float* widened = nullptr;  ///< for packed weights: mostPanels panels × columnBlock × panelWidth
};

/// The functions for one instruction set.
struct MatmulKernels {
  std::int64_t panelWidth = 0;  ///< number of output features in a panel: two vectors
  std::int64_t rowTile = 0;     ///< most rows whose sums fit into registers at the same time
  std::int64_t mostPanels = 0;  ///< number of panels that are processed together when rows are few
  /// Packs the tiles first … last − 1 of the rows at x, each as [columns][rows of the tile].
  void (*packRows)(const float* x, const RowTiles& rowTiles, std::int64_t first, std::int64_t last,
                   std::int64_t columns, float* packed) = nullptr;
  /// Computes row tiles [rowBlock · i, …) × panels [panelBlock · j, …); `scratch` is the thread's own. Packed
  /// weights are widened to f32 there, columnBlock by columnBlock, so that all rows of the block share that.
  void (*block)(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) = nullptr;
};

/// The kernels for the best instruction set of this machine.
MatmulKernels matmulKernels();

/// Matrix products, with their scratch memory.
class Matmul {
 public:
  Matmul() : m_kernels(matmulKernels()) {}

  std::int64_t panelWidth() const { return m_kernels.panelWidth; }
  /// out = x · weightᵀ (+ bias) (+ out). `weight` must be in panels; `bias` is one row of f32 or null.
  void run(Executor& executor, const CpuTensor& x, const CpuWeight& weight, const CpuWeight* bias,
           bool accumulate, CpuTensor& out);

 private:
  void runRows(Executor& executor, const float* x, MatmulJob& job);

  MatmulKernels m_kernels;
  AlignedBuffer m_packedRows;
  AlignedBuffer m_scratch;
};

}  // namespace spanscope::cpu
