// SPDX-License-Identifier: GPL-3.0-or-later
// Computes products of activations and packed weights. Open this file to change the matrix products of the
// CPU.
//
// In f32 arithmetic, every element of the result is one chain of multiply-adds over k = 0 … K − 1. Then the
// bias is added, then the old value of the element. For other arithmetics see fast/fast_kernels.h. Vectors
// run across output features. A chain is never split. If work is divided along k, the sum so far is stored
// and later continued. The bits of a row therefore do not depend on other rows, on tiles or on threads.
#pragma once

#include "engine/compute/dtype.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/executor.h"
#include "kernels/cpu/fast/low_precision.h"
#include "kernels/cpu/tensor.h"
#include "kernels/cpu/weight.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cpu {

/// Divides rows into tiles of nearly equal height. Otherwise, tiles of six and three rows would leave half of
/// the multipliers idle in the second tile.
struct RowTiles {
  std::int64_t rows = 0;
  std::int64_t tiles = 0;

  /// Returns the first row of a tile. After the last tile: the number of rows.
  std::int64_t begin(std::int64_t tile) const {
    return tile * (rows / tiles) + (tile < rows % tiles ? tile : rows % tiles);
  }
};

/// One product. A product is divided into blocks of rowBlock row tiles × panelBlock panels.
struct MatmulJob {
  const std::byte* packedRows = nullptr;  ///< result of packRows(), or f32 if a row is read unpacked
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
  float* sums = nullptr;  ///< rowBlock · rowTile rows × panelBlock · panelWidth.
  /// Widened packed weights, and widened 16-bit weights for many rows: at least mostPanels panels ×
  /// columnBlock × panelWidth floats. Null if weights are used as stored.
  float* widened = nullptr;
  /// Arranged borrowed weights: one panel of a packed weight, or mostPanels panels × columnBlock of other
  /// weights.
  std::byte* arranged = nullptr;
};

/// The functions for one instruction set and one layout of panels.
struct MatmulKernels {
  std::int64_t panelWidth = 0;  ///< number of output features in a panel: two vectors
  std::int64_t rowTile = 0;     ///< max rows whose sums fit into registers at the same time
  std::int64_t mostPanels = 0;  ///< number of panels that are processed together with few rows
  bool readsSingleRow = false;  ///< whether a single row may stay unpacked
  /// Returns the bytes of a packed row for a product with this weight.
  std::int64_t (*packedRowBytes)(const CpuWeight& weight) = nullptr;
  /// Packs the tiles first … last − 1 of the rows at x for a product with this weight. The tile that begins
  /// with row r begins at r · packedRowBytes().
  void (*packRows)(const CpuWeight& weight, const float* x, const RowTiles& rowTiles, std::int64_t first,
                   std::int64_t last, std::byte* packed) = nullptr;
  /// Computes row tiles [rowBlock · i, …) × panels [panelBlock · j, …). `scratch` belongs to the thread.
  /// Widened weights stay there, columnBlock by columnBlock, so that all rows of the block share these
  /// weights.
  void (*block)(const MatmulJob& job, std::int64_t i, std::int64_t j, const MatmulScratch& scratch) = nullptr;
};

/// Returns the kernels for f32 arithmetic with the best instruction set of this machine, for weights in
/// CpuWeight::Layout::Panels.
MatmulKernels matmulKernels();

/// Consecutive rows of a product's operand, multiplied with a weight of their own.
struct RowProduct {
  std::int64_t firstRow = 0;
  std::int64_t rows = 0;
  const CpuTensor* x = nullptr;
  const CpuWeight* weight = nullptr;
  const CpuWeight* bias = nullptr;  ///< one row of f32 or null
  CpuTensor* out = nullptr;         ///< gets the rows at the same places; must be large enough
};

/// Matrix products, with their scratch memory.
class Matmul {
 public:
  /// If the processor lacks the instructions of `arithmetic`, products are computed in f32.
  explicit Matmul(compute::Arithmetic arithmetic);

  /// Returns the instructions of Arithmetic::Fast; nothing for F32.
  const LowPrecision& lowPrecision() const { return m_lowPrecision; }
  /// Returns the product layout of a weight in this format.
  PanelLayout layoutFor(compute::WeightFormat format) const;
  /// Computes out = x · weightᵀ (+ bias) (+ out) when settle() is called. x must not change before.
  /// Consecutive products of the same x are computed together. The rows of x are then packed once, and every
  /// thread has more work. Resizes out unless accumulating. `weight` must have its format's layout. `bias` is
  /// one row of f32 or null.
  void add(Executor& executor, const CpuTensor& x, const CpuWeight& weight, const CpuWeight* bias,
           bool accumulate, CpuTensor& out);
  /// Computes products of several groups of rows together, and returns. A group may occur in several
  /// consecutive products.
  void multiplyGroups(Executor& executor, std::span<const RowProduct> products);
  /// Computes the waiting products. Call this before other code uses the tensors of these products.
  void settle(Executor& executor);
  /// Drops the waiting products.
  void clear() { m_waiting.clear(); }

 private:
  struct Waiting : RowProduct {
    bool accumulate = false;
  };
  /// A product, divided into blocks.
  struct Piece {
    const MatmulKernels* kernels = nullptr;
    MatmulJob job;
    const float* x = nullptr;  ///< the first row
    std::int64_t rowBlocks = 0;
    std::int64_t blocks = 0;
    std::int64_t firstBlock = 0;  ///< index of the first block among the blocks of all pieces
    std::int64_t sums = 0;        ///< floats of scratch memory
    std::int64_t widened = 0;     ///< floats of scratch memory
    std::int64_t arranged = 0;    ///< floats of scratch memory
    std::size_t packing = 0;      ///< index of the packing of the rows, if the rows are packed

    std::int64_t scratch() const { return sums + widened + arranged; }
  };

  /// Rows that are packed in one way.
  struct Packing {
    const Piece* piece = nullptr;  ///< the first piece with this packing
    std::byte* out = nullptr;
  };

  void runAll(Executor& executor);
  /// Computes up to kMostRows rows of each product, from its row `first` on.
  void runRows(Executor& executor, std::int64_t first);
  Piece pieceOf(const Waiting& product, std::int64_t first, std::int64_t rows, std::int64_t threads) const;
  void packRows(Executor& executor);
  const MatmulKernels& kernelsFor(const CpuWeight& weight) const;

  LowPrecision m_lowPrecision;
  MatmulKernels m_kernels;
  MatmulKernels m_pairKernels;
  MatmulKernels m_byteKernels;
  std::vector<Waiting> m_waiting;
  // The running products. Between two products of a single row there is no time to allocate memory.
  std::vector<Waiting> m_running;
  std::vector<Piece> m_pieces;
  std::vector<Packing> m_packings;
  AlignedBuffer m_packedRows;
  AlignedBuffer m_scratch;
};

}  // namespace spanscope::cpu
