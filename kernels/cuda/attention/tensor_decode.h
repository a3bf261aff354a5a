// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of single rows, cut over their keys, on tensor cores: what decodeKernel sums with f32
// arithmetic. All query heads of a key head are the rows of one product of 16, and each warp takes every
// fourth slice of 16 keys of an item by itself: it copies, multiplies and waits for nobody until the item's
// end, where the four results are merged.
//
// For heads of 128 nvcc 13 makes 853 instructions for sm_90 of the loop over slices, those for mass and chosen
// blocks among them: at most 53 of a warp for each key. How fast that is has not been measured.
#pragma once

#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/tensor_head_sizes.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::cuda {

inline constexpr int kTensorDecodeThreads = 128;
inline constexpr int kTensorDecodePairs = kMostGroup;  ///< rows of a product
inline constexpr int kTensorDecodeSliceKeys = 16;

/// Slices that a warp has in shared memory: one is copied while another is multiplied, where both fit.
SPANSCOPE_HOST_DEVICE constexpr int tensorDecodeStages(int headSize) {
  return headSize <= 128 ? 2 : 1;
}
/// Elements between the rows of a slice: 8 more than they have, so that the rows of a matrix that is loaded
/// meet in no bank.
SPANSCOPE_HOST_DEVICE constexpr int tensorDecodeStride(int headSize) {
  return headSize + 8;
}
/// Bf16 elements of one warp's slices, keys and values.
SPANSCOPE_HOST_DEVICE constexpr int tensorDecodeSliceElements(int headSize) {
  return 2 * tensorDecodeStages(headSize) * kTensorDecodeSliceKeys * tensorDecodeStride(headSize);
}
/// With the scores of chunks of `massKeys` keys for `group` query heads, if that is not 0.
constexpr std::size_t tensorDecodeSharedBytes(int headSize, int group, int massKeys) {
  constexpr std::size_t kWarps = kTensorDecodeThreads / 32;
  const auto stride = static_cast<std::size_t>(tensorDecodeStride(headSize));
  const auto slices = static_cast<std::size_t>(tensorDecodeSliceElements(headSize));
  return sharedBytesOf<Bf16>(kTensorDecodePairs * stride) + sharedBytesOf<Bf16>(kWarps * slices) +
         sharedBytesOf<PartialSum>(kWarps * kTensorDecodePairs) +
         sharedBytesOf<float>(static_cast<std::size_t>(group) * static_cast<std::size_t>(massKeys));
}

/// Blocks by shared memory on the smallest card; each has up to 64 KB on their way.
inline constexpr KernelBudget kTensorDecodeBudgets[] = {
    {"tensorDecodeKernel<16>", kTensorDecodeThreads, 6, tensorDecodeSharedBytes(16, 0, 0)},
    {"tensorDecodeKernel<32>", kTensorDecodeThreads, 6, tensorDecodeSharedBytes(32, 0, 0)},
    {"tensorDecodeKernel<64>", kTensorDecodeThreads, 4, tensorDecodeSharedBytes(64, 0, 0)},
    {"tensorDecodeKernel<80>", kTensorDecodeThreads, 3, tensorDecodeSharedBytes(80, 0, 0)},
    {"tensorDecodeKernel<96>", kTensorDecodeThreads, 2, tensorDecodeSharedBytes(96, 0, 0)},
    {"tensorDecodeKernel<128>", kTensorDecodeThreads, 2, tensorDecodeSharedBytes(128, 0, 0)},
    {"tensorDecodeKernel<256>", kTensorDecodeThreads, 2, tensorDecodeSharedBytes(256, 0, 0)}};

template <int HeadSize>
inline constexpr KernelBudget kTensorDecodeBudget =
    kTensorDecodeBudgets[std::ranges::find(kTensorHeadSizes, HeadSize) - kTensorHeadSizes];

/// Fills partialSums, partialValues and, if they are asked for, partialMass and partialFirst. Throws Failure
/// for a shape that the kernels do not have.
void sumOnTensorCores(Stream& stream, const DecodeAttentionArguments& arguments);

}  // namespace spanscope::cuda
