// SPDX-License-Identifier: GPL-3.0-or-later
// Attention on tensor cores in the batch-invariant mode: a single row and many rows use the same arithmetic.
// Each thread block processes 64 pairs of a row and a query head, and the keys of one item. Another kernel
// merges the items of each pair in prompt order. Open this file to change bit-equal attention.
#pragma once

#include "kernels/cuda/attention/prefill_attention.h"
#include "kernels/cuda/attention/prefill_plan.h"

namespace spanscope::cuda {

struct SplitAttentionArguments {
  /// Arguments without items and totals. The lists below replace items and totals.
  PrefillAttentionArguments rows;
  const SplitTile* tiles = nullptr;
  const SplitItem* items = nullptr;
  SplitLaunch launch;

  // The next members are memory for use between the kernels.
  PartialSum* partialSums = nullptr;  ///< [launch.partials · key heads]
  float* partialValues = nullptr;     ///< [launch.partials · key heads][headSize]

  bool operator==(const SplitAttentionArguments&) const = default;
};

inline constexpr KernelBudget kSplitBudgets[] = {
    {"splitKernel<16>", kPrefillThreads, 4, prefillSharedBytes(16)},
    {"splitKernel<32>", kPrefillThreads, 4, prefillSharedBytes(32)},
    {"splitKernel<64>", kPrefillThreads, 4, prefillSharedBytes(64)},
    {"splitKernel<80>", kPrefillThreads, 3, prefillSharedBytes(80)},
    {"splitKernel<96>", kPrefillThreads, 3, prefillSharedBytes(96)},
    {"splitKernel<128>", kPrefillThreads, 3, prefillSharedBytes(128)},
    {"splitKernel<256>", kPrefillThreads, 1, prefillSharedBytes(256)}};
inline constexpr KernelBudget kSplitMergeBudget{"splitMergeKernel", 128, 8, 0};

template <int HeadSize>
inline constexpr KernelBudget kSplitBudget =
    kSplitBudgets[std::ranges::find(kTensorHeadSizes, HeadSize) - kTensorHeadSizes];

/// Fills the rows of one launch. Throws Failure for a shape without a kernel.
void attendSplit(Stream& stream, const SplitAttentionArguments& arguments);

}  // namespace spanscope::cuda
