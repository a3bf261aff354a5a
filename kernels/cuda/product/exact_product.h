// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix product of the batch-invariant mode. The product uses the same tile and the same order of
// summation for every number of rows. Each element is summed over the depth from beginning to end, 16 at a
// time, in one running f32 sum. The bits of a row therefore do not depend on other rows or on their number.
// Open this file to change bit-equal products.
#pragma once

#include "kernels/cuda/annotations.h"
#include "kernels/cuda/kernel_budget.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

inline constexpr int kExactThreads = 128;
inline constexpr int kExactTileRows = 64;
inline constexpr int kExactTileColumns = 64;
inline constexpr int kExactTileDepth = 64;
inline constexpr int kExactStages = 3;  ///< number of tiles of each factor in shared memory at the same time
/// Elements between two rows of a tile: 8 more than the elements of a row. The rows of a loaded matrix then
/// have no bank conflicts.
inline constexpr int kExactRowStride = kExactTileDepth + 8;

/// Elements of one stage: first rows of x, then rows of the weight.
inline constexpr int kExactStageElements = (kExactTileRows + kExactTileColumns) * kExactRowStride;
inline constexpr std::size_t kExactSharedBytes = sharedBytesOf<Bf16>(kExactStages * kExactStageElements);

inline constexpr KernelBudget kExactProductBudget{"exactProductKernel", kExactThreads, 2, kExactSharedBytes};

/// Accepts any sizes and strides. If rows begin at multiples of 16 bytes, the copy of a factor is faster,
/// with the same bits.
void multiplyExactly(Stream& stream, const MatrixProduct& product);

}  // namespace spanscope::cuda
