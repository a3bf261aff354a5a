// SPDX-License-Identifier: GPL-3.0-or-later
// The operations on every logit of a row when a token is drawn. engine/compute/sampling.h defines the words
// and the arithmetic, which is the same on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

/// Number of logits that are added up together.
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
    std::size_t block = 0;  ///< the first block of kSumBlock logits that contains it
    bool damaged = false;   ///< whether a logit is a NaN or +∞
  };
  Largest (*largest)(const float* logits, std::size_t count) = nullptr;
  /// Writes the weights, one per logit.
  void (*weights)(const float* logits, std::size_t count, const WeightFunction& function,
                  std::uint64_t* out) = nullptr;
  /// sums[b] = sum of the weights of block b. Returns the sum of all weights.
  std::uint64_t (*weightSums)(const float* logits, std::size_t count, const WeightFunction& function,
                              std::uint64_t* sums) = nullptr;
  /// Packs the logits with y ≥ `least`, and their ids, in the order of ids. Returns their number. In both
  /// outputs, kPackTail further elements may be overwritten.
  std::size_t (*pack)(const float* logits, std::size_t count, const WeightFunction& function, float least,
                      float* packed, std::int32_t* ids) = nullptr;
  /// The smallest logit; the logits must be undamaged.
  float (*smallest)(const float* logits, std::size_t count) = nullptr;
};
constexpr std::size_t kPackTail = 64;

/// The kernels for the best instruction set of this machine.
SamplingKernels samplingKernels();

}  // namespace spanscope::cpu
