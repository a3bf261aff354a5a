// SPDX-License-Identifier: GPL-3.0-or-later
// Samples tokens on the GPU by the rules of engine/compute/sampling.h. Open this file to change the kernel.
#pragma once

#include "engine/compute/sampling.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// Settings of a row in the form of the kernel.
struct SamplingParameters {
  float scale = 0;          ///< compute::exponentScale of the temperature; 0: greedy
  std::int32_t topK = 0;    ///< 0: off
  std::uint64_t share = 0;  ///< ⌊topP · 2^64⌋
  std::uint64_t seed = 0;
  std::uint64_t index = 0;  ///< number of the token in its answer
  bool cutsWeight = false;  ///< whether top-p is on
};
SamplingParameters samplingParameters(const compute::SamplingSettings& settings, std::uint64_t index);

/// The result of the GPU; see compute::SampledToken.
struct DeviceToken {
  std::int32_t token = 0;
  float probability = 0;
  compute::LogitFault fault = compute::LogitFault::None;
};

/// Samples a token from each row exactly by the rules of engine/compute/sampling.h.
struct SampleArguments {
  const float* logits = nullptr;  ///< [rows] of `count`, `stride` elements apart
  std::int64_t stride = 0;
  int count = 0;                                   ///< 1 … compute::kMostLogits
  const SamplingParameters* parameters = nullptr;  ///< [rows]
  DeviceToken* tokens = nullptr;                   ///< [rows]
  int rows = 0;
  float plainScale = 0;  ///< sample() sets it

  bool operator==(const SampleArguments&) const = default;
};

inline constexpr int kSampleThreads = 1024;
inline constexpr int kSampleBins = 1024;
inline constexpr std::size_t kSampleSharedBytes =
    sharedBytesOf<std::uint64_t>(kSampleBins) + 3 * sharedBytesOf<std::uint64_t>(kSampleThreads / 32) +
    sharedBytesOf<std::uint64_t>(2) + sharedBytesOf<std::uint32_t>(1);
inline constexpr KernelBudget kSampleBudget{"sampleKernel", kSampleThreads, 1, kSampleSharedBytes};

void sample(Stream& stream, const SampleArguments& arguments);

}  // namespace spanscope::cuda
