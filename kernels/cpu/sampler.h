// SPDX-License-Identifier: GPL-3.0-or-later
// Samples tokens on the CPU by the rules of engine/compute/sampling.h. Open this file to speed up sampling.
#pragma once

#include "engine/compute/sampling.h"
#include "kernels/cpu/aligned_buffer.h"
#include "kernels/cpu/executor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cpu {

// The operations on every logit of a row for sampling. engine/compute/sampling.h defines the terms and the
// arithmetic. The arithmetic is the same on every instruction set.

/// Number of logits that are added together.
constexpr std::size_t kSumBlock = 1024;

/// The best logit of a row and the scale of a temperature: y = (logit − best) · scale.
struct WeightFunction {
  float best = 0;
  float scale = 0;
};

/// The functions for one instruction set.
struct SamplingKernels {
  struct Largest {
    float logit = 0;        ///< −∞ if no logit is finite; undefined if a logit is damaged
    std::size_t block = 0;  ///< the first block of kSumBlock logits that contains this logit
    bool damaged = false;   ///< whether a logit is a NaN or +∞
  };
  Largest (*largest)(const float* logits, std::size_t count) = nullptr;
  /// Writes the weights, one per logit.
  void (*weights)(const float* logits, std::size_t count, const WeightFunction& function,
                  std::uint64_t* out) = nullptr;
  /// sums[b] = sum of the weights of block b. Returns the sum of all weights.
  std::uint64_t (*weightSums)(const float* logits, std::size_t count, const WeightFunction& function,
                              std::uint64_t* sums) = nullptr;
  /// Packs the logits with y ≥ `least`, and their ids, in the order of ids. Returns the number of packed
  /// logits. Both outputs have space for kPackTail further elements, which may be overwritten.
  std::size_t (*pack)(const float* logits, std::size_t count, const WeightFunction& function, float least,
                      float* packed, std::int32_t* ids) = nullptr;
  /// Returns the smallest logit. The logits must be undamaged.
  float (*smallest)(const float* logits, std::size_t count) = nullptr;
};
constexpr std::size_t kPackTail = 64;

/// Returns the kernels for the best instruction set of this machine.
SamplingKernels samplingKernels();

/// Memory for sampling one row after the other.
struct SamplingWorkspace {
  /// Reserves memory for rows of `logits` logits. `candidates`: also memory for filtering tokens. Throws
  /// Failure if the memory cannot be allocated.
  void reserve(std::size_t logits, bool candidates);

  AlignedBuffer sums;   ///< sums of weights, one per block of kSumBlock logits
  AlignedBuffer block;  ///< the weights of one such block
  AlignedBuffer
      logits;  ///< logits of the candidates, ordered by id; the next members also describe the candidates
  AlignedBuffer ids;      ///< i32
  AlignedBuffer weights;  ///< u64
  AlignedBuffer bins;     ///< i32
  AlignedBuffer active;   ///< u32: places of candidates that a selection has not decided yet
};

/// Samples tokens exactly like compute::sampleRow, but without sorting. The executor's threads work on
/// several rows at the same time. The time for a row is proportional to its number of logits.
class Sampler {
 public:
  /// Throws Failure like compute::checkRow(), or if memory cannot be allocated.
  void run(Executor& executor, std::span<const compute::SamplingRow> rows,
           std::span<compute::SampledToken> tokens);

 private:
  SamplingKernels m_kernels = samplingKernels();
  std::vector<SamplingWorkspace> m_workspaces;  ///< by thread
};

}  // namespace spanscope::cpu
