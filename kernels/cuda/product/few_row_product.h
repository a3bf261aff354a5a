// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix product for few rows, as in decode steps. The product takes as long as reading its weights. The
// kernel reads each element of a weight once, directly into registers. The kernel keeps as many reads pending
// as the memory needs. Several weights with the same rows need one launch. Open this file to speed up decode.
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/kernel_budget.h"
#include "kernels/cuda/runtime.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::cuda {

inline constexpr int kMostFewRows = 32;
inline constexpr int kMostFewRowWeights = 4;

/// out = x · elementsᵀ (+ bias) (+ out), for one of several weights.
struct FewRowWeight {
  const Bf16* elements = nullptr;  ///< [columns] of [depth], `stride` elements apart
  std::int64_t stride = 0;
  int columns = 0;              ///< of out; rows of the weight
  const float* bias = nullptr;  ///< [columns], or null
  void* out = nullptr;          ///< [rows] of [columns], `outStride` elements apart
  std::int64_t outStride = 0;
  bool outIsFloat = false;  ///< f32, else bf16
  bool accumulate = false;

  bool operator==(const FewRowWeight&) const = default;
};

/// The products of the same rows with each weight. No `out` may overlap x, a weight, a bias, or another out.
struct FewRowProduct {
  int rows = 0;             ///< of x and of each out
  int depth = 0;            ///< columns of x and of each weight
  const Bf16* x = nullptr;  ///< [rows] of [depth], `xStride` elements apart
  std::int64_t xStride = 0;
  int count = 0;  ///< number of weights; the other entries of `weights` keep their defaults
  FewRowWeight weights[kMostFewRowWeights] = {};

  bool operator==(const FewRowProduct&) const = default;
};

inline constexpr int kFewRowThreads = 256;
inline constexpr int kFewRowWarps = kFewRowThreads / 32;
inline constexpr int kFewRowTile = 8;      ///< rows of x in one product of tensor cores
inline constexpr int kFewRowColumns = 16;  ///< columns of out for a thread block
/// Floats between the sums of two rows: 4 more than the columns. The lanes of a warp write two rows apart,
/// and then have no bank conflicts.
inline constexpr int kFewRowSumStride = kFewRowColumns + 4;

/// Returns the number of floats in shared memory for the warps' sums of `tiles` tiles of rows.
SPANSCOPE_HOST_DEVICE constexpr int fewRowSums(int tiles) {
  return kFewRowWarps * tiles * kFewRowTile * kFewRowSumStride;
}
constexpr std::size_t fewRowSharedBytes(int tiles) {
  return sharedBytesOf<float>(static_cast<std::size_t>(fewRowSums(tiles)));
}

/// Budgets by number of row tiles. Memory with 4.8 TB/s and a latency of 0.7 to 1 µs has 3.4 to 4.8 MB
/// pending. Each of 132 multiprocessors has 25 to 36 KB pending. A lane starts 3 or 4 steps, with 32 bytes of
/// weights each, before it needs the first step. Pending bytes of the thread blocks:
/// - one tile: 3 thread blocks with up to 96 KB;
/// - two tiles: 2 thread blocks with 64 KB;
/// - more tiles: 48 KB.
///
/// These amounts are enough while some warps compute. Per step, a thread needs 8 registers for the weights
/// and 4 for each tile. A thread also needs 4 registers per tile for the sums. With one tile, a thread needs
/// 52 of the 80 registers that 3 thread blocks leave. With four tiles, a thread needs 88 of the 128 registers
/// that 2 thread blocks leave.
inline constexpr KernelBudget kFewRowBudgets[] = {
    {"fewRowKernel<1>", kFewRowThreads, 3, fewRowSharedBytes(1)},
    {"fewRowKernel<2>", kFewRowThreads, 2, fewRowSharedBytes(2)},
    {"fewRowKernel<3>", kFewRowThreads, 2, fewRowSharedBytes(3)},
    {"fewRowKernel<4>", kFewRowThreads, 2, fewRowSharedBytes(4)}};
template <int Tiles>
inline constexpr KernelBudget kFewRowBudget = kFewRowBudgets[Tiles - 1];

/// Whether the kernel supports the product. The conditions are:
/// - at most 32 rows;
/// - a depth that is a multiple of 8 elements;
/// - rows of x and of the weights that begin at multiples of 16 bytes.
bool takesFewRows(const FewRowProduct& product);

/// Computes the products. The order of the sum of an element depends only on the depth. A row therefore has
/// the same bits for any other rows. Throws Failure for a product that the kernel does not support.
void multiplyFewRows(Stream& stream, const FewRowProduct& product);

}  // namespace spanscope::cuda
