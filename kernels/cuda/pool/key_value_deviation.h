// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how much new keys or values differ from stored ones. Open this file to change the scores of
// `blend` and `relay`.
#pragma once

#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// Computes the difference between the keys or values of each row and those in its slot. It is the sum of
/// squared differences over all heads. Keys are rotated by their position in the segment. Both are rounded as
/// for storing.
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
