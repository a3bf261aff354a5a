// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix product of the batch-invariant mode. One tile and one order of summation for every number of
// rows: each element is summed over the depth from its beginning to its end, 16 at a time, in one running
// sum of f32. So a row's bits depend on neither the rows beside it nor their number.
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/kernel_budget.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

inline constexpr int kExactThreads = 128;
inline constexpr int kExactTileRows = 64;
inline constexpr int kExactTileColumns = 64;
inline constexpr int kExactTileDepth = 64;
inline constexpr int kExactStages = 3;  ///< tiles of the factors in shared memory at once
/// Elements between the rows of a tile: 8 more than they have, so that the rows of a matrix that is loaded
/// meet in no bank.
inline constexpr int kExactRowStride = kExactTileDepth + 8;

/// Elements of one stage: rows of x, then rows of the weight.
inline constexpr int kExactStageElements = (kExactTileRows + kExactTileColumns) * kExactRowStride;
inline constexpr std::size_t kExactSharedBytes = sharedBytesOf<Bf16>(kExactStages * kExactStageElements);

inline constexpr KernelBudget kExactProductBudget{"exactProductKernel", kExactThreads, 2, kExactSharedBytes};

/// Any sizes and strides. Factors whose rows begin at multiples of 16 bytes are copied faster, with the same
/// bits.
void multiplyExactly(Stream& stream, const MatrixProduct& product);

}  // namespace spanscope::cuda
