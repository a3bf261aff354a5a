// SPDX-License-Identifier: GPL-3.0-or-later
// Attention of single rows on tensor cores, divided along their keys. The kernel computes the same sums as
// decodeKernel, which uses f32 arithmetic. All query heads of a key head are the rows of one product of 16
// rows. Each warp processes every fourth slice of 16 keys of an item. A warp copies, multiplies and waits for
// no other warp until the end of the item. At the end, the four results are merged. Open this file to speed
// up decode.
//
// For heads of 128 elements, nvcc 13 makes 853 sm_90 instructions of the loop over slices. The loop includes
// mass and chosen blocks. A warp has at most 53 instructions per key. The speed has not been measured.
#pragma once

#include "kernels/cuda/attention/decode_attention.h"
#include "kernels/cuda/attention/tensor_head_sizes.h"

#include <algorithm>
#include <cstddef>

namespace spanscope::cuda {

inline constexpr int kTensorDecodeThreads = 128;
inline constexpr int kTensorDecodePairs = kMostGroup;  ///< rows of a product
inline constexpr int kTensorDecodeSliceKeys = 16;

/// Returns the number of slices of a warp in shared memory. If two slices fit, one slice is copied while the
/// other slice is multiplied.
SPANSCOPE_HOST_DEVICE constexpr int tensorDecodeStages(int headSize) {
  return headSize <= 128 ? 2 : 1;
}
/// Returns the elements between two rows of a slice: 8 more than the elements of a row. The rows of a loaded
/// matrix then have no bank conflicts.
SPANSCOPE_HOST_DEVICE constexpr int tensorDecodeStride(int headSize) {
  return headSize + 8;
}
/// Returns the number of bf16 elements in one warp's slices of keys and values.
SPANSCOPE_HOST_DEVICE constexpr int tensorDecodeSliceElements(int headSize) {
  return 2 * tensorDecodeStages(headSize) * kTensorDecodeSliceKeys * tensorDecodeStride(headSize);
}
/// If `massKeys` is not 0, the result includes the scores of chunks of `massKeys` keys for `group` query
/// heads.
constexpr std::size_t tensorDecodeSharedBytes(int headSize, int group, int massKeys) {
  constexpr std::size_t kWarps = kTensorDecodeThreads / 32;
  const auto stride = static_cast<std::size_t>(tensorDecodeStride(headSize));
  const auto slices = static_cast<std::size_t>(tensorDecodeSliceElements(headSize));
  return sharedBytesOf<Bf16>(kTensorDecodePairs * stride) + sharedBytesOf<Bf16>(kWarps * slices) +
         sharedBytesOf<PartialSum>(kWarps * kTensorDecodePairs) +
         sharedBytesOf<float>(static_cast<std::size_t>(group) * static_cast<std::size_t>(massKeys));
}

/// The shared memory of the smallest GPU limits the numbers of thread blocks. Each thread block has up to 64
/// KB of pending loads.
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

/// Fills partialSums and partialValues. If the mass is needed, also fills partialMass and partialFirst.
/// Throws Failure for a shape without a kernel.
void sumOnTensorCores(Stream& stream, const DecodeAttentionArguments& arguments);

}  // namespace spanscope::cuda
