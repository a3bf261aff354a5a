// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels of the KV pool. The kernels copy blocks, store new keys and values, and measure the difference
// between new and stored keys or values. Open this file to change copy-on-write on the GPU or the scores of
// `blend` and `relay`.
#pragma once

#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// An instruction to copy the first `slots` slots of one physical block to another, in all layers.
struct BlockCopy {
  std::int32_t source = 0;
  std::int32_t target = 0;
  std::int32_t slots = 0;  ///< 0: nothing to copy
};

/// Max copies in one launch. The launch's arguments contain the copies. A separate list on the GPU would have
/// to outlive the call on the host.
inline constexpr int kMostBlockCopies = 128;

struct BlockCopiesArguments {
  BlockCopy copies[kMostBlockCopies] = {};  ///< no target may be the source or target of another copy
  int count = 0;
  KeyValuePool pool;
};

inline constexpr KernelBudget kBlockCopiesBudget{"blockCopiesKernel", 128, 12, 0};

void copyBlocks(Stream& stream, const BlockCopiesArguments& arguments);

/// Rotates each key row by its position in the segment. Rounds keys and values to the pool's type, and stores
/// them at their slots. A rotation acts on the pairs (i, i + headSize/2). Here headSize is the head size of
/// tensors. The padding does not change.
struct KeyValueWriteArguments {
  const Bf16* keys = nullptr;    ///< [rows] of [heads][headSize], `stride` elements apart
  const Bf16* values = nullptr;  ///< [rows] of [heads][headSize], `stride` elements apart
  std::int64_t stride = 0;
  const float* cosSin = nullptr;  ///< [position in the segment][headSize / 2 cosines, headSize / 2 sines]
  const std::int32_t* localIndices = nullptr;  ///< [rows], each a row of cosSin
  const std::int64_t* slots = nullptr;  ///< [rows]: block · blockSize + slot; below 0: the row is left out
  KeyValuePool pool;
  int layer = 0;
  int rows = 0;

  bool operator==(const KeyValueWriteArguments&) const = default;
};

inline constexpr int kKeyValueWriteThreads = 128;
inline constexpr KernelBudget kKeyValueWriteBudget{"keyValueWriteKernel", kKeyValueWriteThreads, 12, 0};

void writeKeysValues(Stream& stream, const KeyValueWriteArguments& arguments);

/// Computes the difference between the keys or values of each row and the stored keys or values in its slot.
/// The difference is the sum of squared differences over all heads. Keys are rotated by their position in the
/// segment. Keys and values are rounded as for storing.
struct KeyValueDeviationArguments {
  const Bf16* rowsOf = nullptr;  ///< keys or values: [rows] of [heads][headSize], `stride` elements apart
  std::int64_t stride = 0;
  const float* cosSin = nullptr;  ///< [position in the segment][headSize / 2 cosines, headSize / 2 sines];
                                  ///< null for values
  const std::int32_t* localIndices = nullptr;  ///< [rows], each a row of cosSin
  const std::int64_t* slots = nullptr;  ///< [rows]: block · blockSize + slot; below 0: the result is 0
  KeyValuePool pool;
  int layer = 0;
  int rows = 0;
  float* out = nullptr;  ///< [rows]

  bool operator==(const KeyValueDeviationArguments&) const = default;
};

inline constexpr int kKeyValueDeviationThreads = 128;
inline constexpr KernelBudget kKeyValueDeviationBudget{"keyValueDeviationKernel", kKeyValueDeviationThreads,
                                                       12, kKeyValueDeviationThreads / 32 * sizeof(float)};

void measureDeviations(Stream& stream, const KeyValueDeviationArguments& arguments);

}  // namespace spanscope::cuda
