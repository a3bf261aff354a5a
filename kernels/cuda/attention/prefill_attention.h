// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of many query rows on tensor cores. A thread block processes 64 pairs. A pair is a query row and
// a query head. All query heads of a thread block share one key head. If many query heads share a key
// head, few query rows fill a thread block. The thread block processes the segments of its run in prompt
// order, 64 keys at a time, with one running sum. Open this file to speed up prefill.
#pragma once

#include "kernels/cuda/attention/partial_sum.h"
#include "kernels/cuda/attention/prefill_plan.h"
#include "kernels/cuda/attention/tensor_head_sizes.h"
#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

#include <algorithm>

namespace spanscope::cuda {

/// out[r] = softmax over the keys of row r of (scale · ⟨R(distance) q, k⟩) · values. Rotated queries and
/// weights are rounded to bf16. All sums are f32.
struct PrefillAttentionArguments {
  const Bf16* queries = nullptr;  ///< [rows] of [queryHeads][headSize], not rotated, `queryStride` elements
                                  ///< apart
  std::int64_t queryStride = 0;
  int queryHeads = 0;  ///< a multiple of the pool's heads
  float scale = 0;
  const float* rowScales = nullptr;  ///< [rows]; if not null, these factors replace `scale`
  float softCap = 0;                 ///< as in compute::AttentionShape
  KeyValuePool pool;  ///< as isForTensorCores() requires; queries, rotations and out have no padding
  int layer = 0;

  // The next members come from the plan.
  const PrefillItem* items = nullptr;
  int itemCount = 0;
  const PrefillRun* runs = nullptr;
  const PrefillRange* ranges = nullptr;
  const std::int32_t* locals = nullptr;
  const std::int32_t* blocks = nullptr;
  const float* cosSin = nullptr;

  Bf16* out = nullptr;           ///< [rows][queryHeads · headSize]; 0 for rows without keys
  PartialSum* totals = nullptr;  ///< [rows][queryHeads]; or null

  bool operator==(const PrefillAttentionArguments&) const = default;
};

inline constexpr int kPrefillThreads = 128;
inline constexpr int kPrefillTilePairs = 64;
inline constexpr int kPrefillTileKeys = 64;

/// Returns the elements between two rows of a tile: 8 more than the elements of a row. The rows of a loaded
/// matrix then have no bank conflicts.
SPANSCOPE_HOST_DEVICE constexpr int prefillRowStride(int headSize) {
  return headSize + 8;
}
/// Returns the shared memory for queries, keys and values.
constexpr std::size_t prefillSharedBytes(int headSize) {
  const auto stride = static_cast<std::size_t>(prefillRowStride(headSize));
  return sharedBytesOf<Bf16>(kPrefillTilePairs * stride) + 2 * sharedBytesOf<Bf16>(kPrefillTileKeys * stride);
}

inline constexpr KernelBudget kPrefillBudgets[] = {
    {"prefillKernel<16>", kPrefillThreads, 4, prefillSharedBytes(16)},
    {"prefillKernel<32>", kPrefillThreads, 4, prefillSharedBytes(32)},
    {"prefillKernel<64>", kPrefillThreads, 4, prefillSharedBytes(64)},
    {"prefillKernel<80>", kPrefillThreads, 3, prefillSharedBytes(80)},
    {"prefillKernel<96>", kPrefillThreads, 3, prefillSharedBytes(96)},
    {"prefillKernel<128>", kPrefillThreads, 3, prefillSharedBytes(128)},
    {"prefillKernel<256>", kPrefillThreads, 1, prefillSharedBytes(256)}};

template <int HeadSize>
inline constexpr KernelBudget kPrefillBudget =
    kPrefillBudgets[std::ranges::find(kTensorHeadSizes, HeadSize) - kTensorHeadSizes];

/// Throws Failure for a shape without a kernel.
void attendPrefill(Stream& stream, const PrefillAttentionArguments& arguments);

}  // namespace spanscope::cuda
