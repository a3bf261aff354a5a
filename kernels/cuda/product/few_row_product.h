// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix product of few rows, as decode steps have: it takes as long as its weights take to be read.
// Each element of a weight is read once, straight to registers, with as many reads under way as memory
// needs, and several weights that the same rows are multiplied with are one launch.
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/kernel_budget.h"
#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cuda {

inline constexpr int kMostFewRows = 32;
inline constexpr int kMostFewRowWeights = 4;

/// out = x · elementsᵀ (+ bias) (+ out), for one weight of several.
struct FewRowWeight {
  const Bf16* elements = nullptr;  ///< [columns] of [depth], `stride` elements apart
  std::int64_t stride = 0;
  int columns = 0;              ///< of out, rows of the weight
  const float* bias = nullptr;  ///< [columns], or null
  void* out = nullptr;          ///< [rows] of [columns], `outStride` elements apart
  std::int64_t outStride = 0;
  bool outIsFloat = false;  ///< f32, else bf16
  bool accumulate = false;

  bool operator==(const FewRowWeight&) const = default;
};

/// The products of the same rows with each weight. No `out` overlaps x, a weight, a bias, or another out.
struct FewRowProduct {
  int rows = 0;             ///< of x and of each out
  int depth = 0;            ///< columns of x and of each weight
  const Bf16* x = nullptr;  ///< [rows] of [depth], `xStride` elements apart
  std::int64_t xStride = 0;
  int count = 0;  ///< of weights; what stands behind them is as it was made
  FewRowWeight weights[kMostFewRowWeights] = {};

  bool operator==(const FewRowProduct&) const = default;
};

inline constexpr int kFewRowThreads = 256;
inline constexpr int kFewRowWarps = kFewRowThreads / 32;
inline constexpr int kFewRowTile = 8;      ///< rows of x that a product of tensor cores takes
inline constexpr int kFewRowColumns = 16;  ///< of out, that a block computes
/// Floats between the sums of two rows: 4 more than there are, so that the lanes of a warp, which write two
/// rows apart, meet in no bank.
inline constexpr int kFewRowSumStride = kFewRowColumns + 4;

/// Floats in shared memory, where each warp leaves its sums of `tiles` tiles of rows.
SPANSCOPE_HOST_DEVICE constexpr int fewRowSums(int tiles) {
  return kFewRowWarps * tiles * kFewRowTile * kFewRowSumStride;
}
constexpr std::size_t fewRowSharedBytes(int tiles) {
  return sharedBytesOf<float>(static_cast<std::size_t>(fewRowSums(tiles)));
}

/// By tiles of rows. Memory of 4.8 TB/s that answers in 0.7 to 1 µs has 3.4 to 4.8 MB under way, 25 to 36 KB
/// of them for each of 132 multiprocessors. A lane begins 3 or 4 steps of 32 bytes of weights each before it
/// needs the first: of one tile 3 blocks have up to 96 KB under way, of two tiles 2 blocks 64 KB, of more
/// tiles 48 KB, so that there is enough while some warps compute. A thread needs 8 registers a step for the
/// weights and 4 for each tile, and 4 a tile for the sums: 52 with one tile, which fit into the 80 that 3
/// blocks leave, and 88 with four, which fit into the 128 of 2 blocks.
inline constexpr KernelBudget kFewRowBudgets[] = {
    {"fewRowKernel<1>", kFewRowThreads, 3, fewRowSharedBytes(1)},
    {"fewRowKernel<2>", kFewRowThreads, 2, fewRowSharedBytes(2)},
    {"fewRowKernel<3>", kFewRowThreads, 2, fewRowSharedBytes(3)},
    {"fewRowKernel<4>", kFewRowThreads, 2, fewRowSharedBytes(4)}};
template <int Tiles>
inline constexpr KernelBudget kFewRowBudget = kFewRowBudgets[Tiles - 1];

/// Whether the kernel takes it: at most 32 rows, a depth of whole vectors of 8 elements, and rows of x and of
/// the weights that begin at multiples of 16 bytes.
bool takesFewRows(const FewRowProduct& product);

/// The sums of an element are added in an order that depends on the depth alone, so that a row has the same
/// bits whatever is beside it. Throws Failure for a product that the kernel does not take.
void multiplyFewRows(Stream& stream, const FewRowProduct& product);

}  // namespace spanscope::cuda
