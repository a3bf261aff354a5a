// SPDX-License-Identifier: GPL-3.0-or-later
// Four warps share a tile of 64 × 64 elements. Each warp has 32 × 32 elements. Tiles of the factors are
// loaded a few steps before their products. Elements outside of the factors are 0 and add nothing.
#include "kernels/cuda/device.h"
#include "kernels/cuda/product/exact_product.h"

namespace spanscope::cuda {

namespace {

constexpr int kMatrixRows = 16;    ///< of one product of tensor cores
constexpr int kMatrixColumns = 8;  ///< of one
constexpr int kMatrixDepth = 16;   ///< of one
constexpr int kWarpRows = 32;
constexpr int kWarpColumns = 32;
constexpr int kWarpsAside = kExactTileColumns / kWarpColumns;
constexpr int kRowSteps = kWarpRows / kMatrixRows;
constexpr int kColumnSteps = kWarpColumns / kMatrixColumns;
constexpr int kVector = 8;  ///< number of elements in one copy
constexpr int kVectors = kExactTileDepth / kVector;

/// A factor with the layout of its rows.
struct Factor {
  const Bf16* elements;
  std::int64_t stride;
  int rows;
};

/// Starts to copy `count` rows of a factor, from `firstRow` and `firstDepth` on.
template <bool Aligned>
SPANSCOPE_DEVICE void startFactor(const Factor& factor, int firstRow, int count, int firstDepth, int depth,
                                  Bf16* target) {
  for (int i = threadIndex(); i < count * kVectors; i += kExactThreads) {
    const int row = firstRow + i / kVectors;
    const int at = firstDepth + i % kVectors * kVector;
    Bf16* const place = target + i / kVectors * kExactRowStride + i % kVectors * kVector;
    const int left = row < factor.rows ? depth - at : 0;
    const int elements = left < 0 ? 0 : left < kVector ? left : kVector;
    const Bf16* const source = factor.elements + (elements > 0 ? row * factor.stride + at : 0);
    if constexpr (Aligned) {
      copyAsync16(place, source, elements * static_cast<int>(sizeof(Bf16)));
    } else {
      SPANSCOPE_UNROLL
      for (int e = 0; e < kVector; ++e) place[e] = e < elements ? source[e] : Bf16{0};
    }
  }
}

/// Stores two neighbouring elements. At the end of a row, stores only the element inside the row.
SPANSCOPE_DEVICE void storePair(const MatrixProduct& product, int row, int column, float first,
                                float second) {
  if (row >= product.rows) return;
  const float pair[2] = {first, second};
  SPANSCOPE_UNROLL
  for (int i = 0; i < 2; ++i) {
    if (column + i >= product.columns) return;
    const std::int64_t place = row * product.outStride + column + i;
    if (product.outIsFloat) {
      float* const out = static_cast<float*>(product.out) + place;
      *out = product.accumulate ? addExact(pair[i], *out) : pair[i];
    } else {
      Bf16* const out = static_cast<Bf16*>(product.out) + place;
      *out = toBf16(product.accumulate ? addExact(pair[i], toFloat(*out)) : pair[i]);
    }
  }
}

}  // namespace

/// A block for each tile of `out`. Rows of x come first, so that neighbouring blocks share a weight.
template <bool Aligned>
SPANSCOPE_KERNEL(kExactProductBudget)
exactProductKernel(MatrixProduct product) {
  SharedMemory shared;
  Bf16* const stages = shared.take<Bf16>(kExactStages * kExactStageElements);
  const int firstRow = blockIndex().x * kExactTileRows;
  const int firstColumn = blockIndex().y * kExactTileColumns;
  const Factor x{product.x, product.xStride, product.rows};
  const Factor weight{product.weight, product.weightStride, product.columns};
  const int steps = (product.depth + kExactTileDepth - 1) / kExactTileDepth;
  const auto start = [&](int step) {
    if (step < steps) {
      Bf16* const stage = stages + step % kExactStages * kExactStageElements;
      const int firstDepth = step * kExactTileDepth;
      startFactor<Aligned>(x, firstRow, kExactTileRows, firstDepth, product.depth, stage);
      startFactor<Aligned>(weight, firstColumn, kExactTileColumns, firstDepth, product.depth,
                           stage + kExactTileRows * kExactRowStride);
    }
    commitCopies();
  };

  const int warpRow = warpIndex() / kWarpsAside * kWarpRows;
  const int warpColumn = warpIndex() % kWarpsAside * kWarpColumns;
  // Unneeded rows are not multiplied. The other rows do not change.
  const int rowsLeft = firstColumn + warpColumn < product.columns ? product.rows - firstRow - warpRow : 0;
  const int matrix = laneIndex() / 8;
  const int inMatrix = laneIndex() % 8;
  const int leftPlace = (warpRow + matrix % 2 * 8 + inMatrix) * kExactRowStride + matrix / 2 * 8;
  const int rightPlace =
      (kExactTileRows + warpColumn + matrix / 2 * 8 + inMatrix) * kExactRowStride + matrix % 2 * 8;

  SumFragment sums[kRowSteps][kColumnSteps];
  SPANSCOPE_UNROLL
  for (int row = 0; row < kRowSteps; ++row) {
    SPANSCOPE_UNROLL
    for (int column = 0; column < kColumnSteps; ++column) sums[row][column] = {{0, 0, 0, 0}};
  }
  for (int step = 0; step + 1 < kExactStages; ++step) start(step);
  for (int step = 0; step < steps; ++step) {
    waitCopies<kExactStages - 2>();
    syncBlock();  // the factors have arrived, and the factors of the previous step have been read
    start(step + kExactStages - 1);
    if (rowsLeft <= 0) continue;
    const Bf16* const stage = stages + step % kExactStages * kExactStageElements;
    SPANSCOPE_UNROLL
    for (int depth = 0; depth < kExactTileDepth; depth += kMatrixDepth) {
      LeftFragment left[kRowSteps];
      SPANSCOPE_UNROLL
      for (int row = 0; row < kRowSteps; ++row) {
        if (row * kMatrixRows >= rowsLeft) break;
        loadMatrices<4, false>(left[row].registers,
                               stage + leftPlace + row * kMatrixRows * kExactRowStride + depth);
      }
      SPANSCOPE_UNROLL
      for (int column = 0; column < kColumnSteps; column += 2) {
        std::uint32_t registers[4];
        loadMatrices<4, false>(registers,
                               stage + rightPlace + column * kMatrixColumns * kExactRowStride + depth);
        SPANSCOPE_UNROLL
        for (int row = 0; row < kRowSteps; ++row) {
          if (row * kMatrixRows >= rowsLeft) break;
          multiplyAccumulate(sums[row][column], left[row], {{registers[0], registers[1]}});
          multiplyAccumulate(sums[row][column + 1], left[row], {{registers[2], registers[3]}});
        }
      }
    }
  }
  waitCopies<0>();

  SPANSCOPE_UNROLL
  for (int row = 0; row < kRowSteps; ++row) {
    SPANSCOPE_UNROLL
    for (int column = 0; column < kColumnSteps; ++column) {
      const float(&own)[4] = sums[row][column].values;
      const int outRow = firstRow + warpRow + row * kMatrixRows + laneIndex() / 4;
      const int outColumn = firstColumn + warpColumn + column * kMatrixColumns + laneIndex() % 4 * 2;
      storePair(product, outRow, outColumn, own[0], own[1]);
      storePair(product, outRow + 8, outColumn, own[2], own[3]);
    }
  }
}

namespace {

bool isAligned(const Bf16* elements, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(elements) % 16 == 0 && stride % kVector == 0;
}

}  // namespace

void multiplyExactly(Stream& stream, const MatrixProduct& product) {
  const bool aligned =
      isAligned(product.x, product.xStride) && isAligned(product.weight, product.weightStride);
  launch(stream, "exactProduct",
         {.grid = {(product.rows + kExactTileRows - 1) / kExactTileRows,
                   (product.columns + kExactTileColumns - 1) / kExactTileColumns},
          .threads = kExactThreads,
          .sharedBytes = kExactSharedBytes},
         aligned ? exactProductKernel<true> : exactProductKernel<false>, product);
}

}  // namespace spanscope::cuda
