// SPDX-License-Identifier: GPL-3.0-or-later
// Weights and order of logits as engine/compute/sampling.h defines them, with the same bits. Open this file
// before you change sampling on the GPU.
#pragma once

#include "engine/base/hash.h"
#include "engine/compute/sampling.h"
#include "kernels/cuda/device.h"

namespace spanscope::cuda {

inline constexpr int kTermCount = static_cast<int>(compute::kPowerTerms.size());
static_assert(kTermCount == 6);
inline constexpr float kTerm1 = compute::kPowerTerms[0];
inline constexpr float kTerm2 = compute::kPowerTerms[1];
inline constexpr float kTerm3 = compute::kPowerTerms[2];
inline constexpr float kTerm4 = compute::kPowerTerms[3];
inline constexpr float kTerm5 = compute::kPowerTerms[4];
inline constexpr float kTerm6 = compute::kPowerTerms[5];
inline constexpr std::uint64_t kGamma = kGoldenGamma;

SPANSCOPE_DEVICE float powerOf(float y) {
  if (!(y >= compute::kLeastExponent)) return 0;
  const float n = roundExact(y);
  const float f = addExact(y, -n);
  float p = addExact(multiplyExact(kTerm6, f), kTerm5);
  p = addExact(multiplyExact(p, f), kTerm4);
  p = addExact(multiplyExact(p, f), kTerm3);
  p = addExact(multiplyExact(p, f), kTerm2);
  p = addExact(multiplyExact(p, f), kTerm1);
  return scaleExact(addExact(multiplyExact(p, f), 1.0F), static_cast<int>(n));
}

/// The parameters that turn logits into weights.
struct WeightScale {
  float best;  ///< logit
  float scale;

  SPANSCOPE_DEVICE float exponent(float logit) const { return multiplyExact(addExact(logit, -best), scale); }
  SPANSCOPE_DEVICE std::uint64_t weight(float logit) const {
    return static_cast<std::uint64_t>(scaleExact(powerOf(exponent(logit)), compute::kWeightBits));
  }
};

/// Returns a larger value for a logit that comes earlier in order. Equal logits have equal values.
SPANSCOPE_DEVICE std::uint32_t orderKey(float logit) {
  const std::uint32_t bits = bitsOf(addExact(logit, 0.0F));  // −0 becomes +0
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
/// Returns the logit with this key.
SPANSCOPE_DEVICE float logitOfKey(std::uint32_t key) {
  return floatOf((key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key);
}

SPANSCOPE_DEVICE std::uint64_t mix(std::uint64_t value) {
  value += kGamma;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}
SPANSCOPE_DEVICE std::uint64_t randomBits(std::uint64_t seed, std::uint64_t index) {
  return mix(mix(seed) + index * kGamma);
}

/// Returns the min sum of weights that top-p keeps.
SPANSCOPE_DEVICE std::uint64_t weightToKeep(std::uint64_t total, std::uint64_t share) {
  const std::uint64_t high = multiplyHigh(total, share);
  const std::uint64_t least = total * share == 0 ? high : high + 1;
  return least > 1 ? least : 1;
}

}  // namespace spanscope::cuda
