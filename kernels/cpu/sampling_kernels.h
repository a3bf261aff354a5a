// SPDX-License-Identifier: GPL-3.0-or-later
// What is done to every logit of a row when a token is drawn; see engine/compute/sampling.h for the words and
// the arithmetic, which is the same on every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace spanscope::cpu {

/// Logits that are summed up together.
constexpr std::size_t kSumBlock = 1024;

/// The best logit of a row and the scale of a temperature: y = (logit − best) · scale.
struct WeightFunction {
  float best = 0;
  float scale = 0;
};

/// The code for one instruction set.
struct SamplingKernels {
  struct Largest {
    float logit = 0;        ///< −∞ where no logit is finite; undefined where one is damaged
    std::size_t block = 0;  ///< the first of kSumBlock logits that has it
    bool damaged = false;   ///< a NaN or +∞ is among them
  };
  Largest (*largest)(const float* logits, std::size_t count) = nullptr;
  /// The weights, one a logit.
  void (*weights)(const float* logits, std::size_t count, const WeightFunction& function,
                  std::uint64_t* out) = nullptr;
  /// sums[b] = sum of the weights of block b; returns the sum of all.
  std::uint64_t (*weightSums)(const float* logits, std::size_t count, const WeightFunction& function,
                              std::uint64_t* sums) = nullptr;
  /// Packs the logits with y ≥ `least`, and their ids, in order of ids. Returns how many they are. Of both
  /// outputs kPackTail more may be overwritten.
  std::size_t (*pack)(const float* logits, std::size_t count, const WeightFunction& function, float least,
                      float* packed, std::int32_t* ids) = nullptr;
  /// Of undamaged logits.
  float (*smallest)(const float* logits, std::size_t count) = nullptr;
};
constexpr std::size_t kPackTail = 64;

/// The kernels for the best instruction set of this machine.
SamplingKernels samplingKernels();

}  // namespace spanscope::cpu
