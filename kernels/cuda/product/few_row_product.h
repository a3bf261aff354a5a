// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix product for few rows, as in decode steps. It takes as long as reading its weights takes. It
// reads each element of a weight once, directly into registers, and keeps as many reads under way as the
// memory needs. If the same rows are multiplied with several weights, this is one launch.
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
inline constexpr int kFewRowColumns = 16;  ///< columns of out that a thread block computes
/// Floats from the sums of one row to those of the next: 4 more than there are. So the lanes of a warp, which
/// write two rows apart, do not conflict in a bank.
inline constexpr int kFewRowSumStride = kFewRowColumns + 4;

/// Number of floats in shared memory, where each warp stores its sums of `tiles` tiles of rows.
SPANSCOPE_HOST_DEVICE constexpr int fewRowSums(int tiles) {
  return kFewRowWarps * tiles * kFewRowTile * kFewRowSumStride;
}
constexpr std::size_t fewRowSharedBytes(int tiles) {
  return sharedBytesOf<float>(static_cast<std::size_t>(fewRowSums(tiles)));
}

/// Budgets by number of row tiles. Memory with 4.8 TB/s and a latency of 0.7 to 1 µs has 3.4 to 4.8 MB under
/// way. These are 25 to 36 KB for each of 132 multiprocessors. A lane starts 3 or 4 steps, with 32 bytes of
/// weights each, before it needs the first step. With one tile, 3 thread blocks have up to 96 KB under way;
/// with two tiles, 2 thread blocks have 64 KB; with more tiles, 48 KB. So there is enough while some warps
/// compute. Per step, a thread needs 8 registers for the weights and 4 for each tile; it needs 4 more per
/// tile for the sums. These are 52 with one tile, which fit into the 80 that 3 thread blocks leave. With four
/// tiles they are 88, which fit into the 128 that 2 thread blocks leave.
inline constexpr KernelBudget kFewRowBudgets[] = {
    {"fewRowKernel<1>", kFewRowThreads, 3, fewRowSharedBytes(1)},
    {"fewRowKernel<2>", kFewRowThreads, 2, fewRowSharedBytes(2)},
    {"fewRowKernel<3>", kFewRowThreads, 2, fewRowSharedBytes(3)},
    {"fewRowKernel<4>", kFewRowThreads, 2, fewRowSharedBytes(4)}};
template <int Tiles>
inline constexpr KernelBudget kFewRowBudget = kFewRowBudgets[Tiles - 1];

/// Whether the kernel supports the product: at most 32 rows, a depth that is a multiple of 8 elements, and
/// rows of x and of the weights that begin at multiples of 16 bytes.
bool takesFewRows(const FewRowProduct& product);

/// The order in which the sums of an element are added depends only on the depth. So a row has the same bits
/// whatever rows are beside it. Throws Failure for a product that the kernel does not support.
void multiplyFewRows(Stream& stream, const FewRowProduct& product);

}  // namespace spanscope::cuda
