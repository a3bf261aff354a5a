// SPDX-License-Identifier: GPL-3.0-or-later
// Stores new keys and values in the pool. Open this file to change how keys are rotated for storing.
#pragma once

#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// Rotates each key row by its position in the segment. Rounds keys and values to the pool's type, and stores
/// them at their slots. A rotation acts on the pairs (i, i + headSize/2). Here headSize is that of tensors.
/// The padding does not change.
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

}  // namespace spanscope::cuda
