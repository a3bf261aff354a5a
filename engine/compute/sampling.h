// SPDX-License-Identifier: GPL-3.0-or-later
// Defines exactly how a token is sampled from a row of logits. For equal logits, every backend gives the same
// token and the same probability, bit for bit. The order of computation and the number of threads do not
// matter. Open this file before you change a sampler.
//
// All arithmetic on floats is IEEE f32 with subnormal numbers. Each operation is rounded to nearest, ties to
// even, and no operations are fused. Sums are sums of integers. The order of the terms therefore does not
// matter.
//
// 1. Damage. A row with a NaN or +∞, or without a finite logit, gives a LogitFault instead of a token.
// 2. Order. Logits are ordered from the largest down. Equal logits (−0 equals +0) are ordered by id, from the
//    lowest up. The first token is the *best* token, and m is its logit.
// 3. Weights at temperature T > 0. With s = exponentScale(T), each logit l has y = (l − m) · s. Then power(y)
//    = p(f) · 2^n for y ≥ −125, and 0 otherwise. Here n is y rounded to an integer (ties to even), and f = y
//    − n. The polynomial has the coefficients c = kPowerTerms: `p(f) = (((((c6·f + c5)·f + c4)·f + c3)·f +
//    c2)·f + c1)·f + 1`. `f` and the product with 2^n are exact. The weight is the integer ⌊power(y) · 2^40⌋:
//    2^40 for the best token, 0 for y < −40.
// 4. Probability, before temperature and filters: power(y) of the token divided by the sum of all weights.
//    Power and sum are taken at T = 1. The sum is rounded to f32 and multiplied by 2^−40 before the division.
// 5. Greedy (unless T > 0): the best token.
// 6. Top-k, if 0 < k < number of logits: the first k tokens in order are kept. Otherwise all are kept.
// 7. Top-p, if p < 1: the shortest beginning of the kept tokens, in order, is kept. The weights at T of this
//    beginning must have a sum of at least max(1, ⌈W · P / 2^64⌉). W is the sum of the weights of all tokens
//    that step 6 keeps. P is ⌊p · 2^64⌋, or 0 for p ≤ 0.
// 8. Sampling. W is the sum of the weights of the tokens that are still kept. R is randomBits(seed, index),
//    and t = ⌊R · W / 2^64⌋. The weights of the kept tokens are added by id, from the lowest up. The token is
//    the first at which the sum is greater than t.
//
// A weight approximates e^((l − m)/T) · 2^40. The error is at most 1 plus (1 + 1.25·|y|) · 2^−23 of the
// weight.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::compute {

struct SamplingSettings {
  float temperature = 0;  ///< 0: greedy
  std::int32_t topK = 0;  ///< 0: off
  float topP = 1;         ///< 1: off
  std::uint64_t seed = 0;
};

/// A row of logits from which a token is sampled. Equal logits, settings, seeds and indices always give the
/// same token.
struct SamplingRow {
  std::span<const float> logits;  ///< by token id; at most kMostLogits
  SamplingSettings settings;
  std::uint64_t index = 0;  ///< number of the token in its answer
};

enum class LogitFault : std::uint8_t { None, NotANumber, Infinite, NoneFinite };

struct SampledToken {
  /// With NotANumber or Infinite: the lowest id with a NaN or +∞. The logit of this id determines the fault.
  TokenId token = 0;
  float probability = 0;  ///< before temperature and filters
  LogitFault fault = LogitFault::None;
  bool operator==(const SampledToken&) const = default;
};

/// Returns the error for a row of `count` logits whose token has a fault. `index` is the number of the token
/// in its answer.
Error describeFault(const SampledToken& token, std::uint64_t index, std::int32_t count);

/// Max number of logits in a row. The sum of all weights is then at most 2^63.
constexpr std::size_t kMostLogits = std::size_t{1} << 23U;
/// Throws Failure if a row has more than kMostLogits logits.
void checkRow(const SamplingRow& row);

constexpr int kWeightBits = 40;  ///< number of bits after the binary point
constexpr float kLeastExponent = -125;
/// Coefficients c1 … c6 of 2^f over −½ ≤ f ≤ ½. With the constant 1, the relative error is at most 1.5 ·
/// 2^−24.
constexpr std::array<float, 6> kPowerTerms{0x1.62e43p-1F, 0x1.ebfbd8p-3F,  0x1.c6af78p-5F,
                                           0x1.3b30bp-7F, 0x1.5f0a66p-10F, 0x1.3f906cp-13F};

/// Returns log2(e) / T, divided in double precision, rounded to f32 and limited to 2^−126 … the largest f32.
float exponentScale(float temperature);
/// See step 3.
float power(float y);
/// ⌊power · 2^40⌋ for 0 ≤ power ≤ 1.
std::uint64_t weightOf(float power);
/// See step 4. `total` is the sum of all weights at temperature 1.
float probabilityOf(float power, std::uint64_t total);

/// Returns a larger value for a logit that comes earlier in order. Equal logits have equal values.
inline std::uint32_t orderOf(float logit) {
  const auto bits = std::bit_cast<std::uint32_t>(logit + 0.0F);  // −0 becomes +0
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

/// ⌊a · b / 2^64⌋
std::uint64_t multiplyHigh(std::uint64_t a, std::uint64_t b);
/// Returns the min sum of weights that top-p keeps of a sum `total` > 0; see step 7. `topP` < 1.
std::uint64_t weightToKeep(std::uint64_t total, float topP);

/// Returns output number `index` of the generator SplitMix64 (Steele, Lea, Flood 2014) with the initial state
/// mix(seed). The output is mix(mix(seed) + index · kGoldenGamma). mix(x) adds kGoldenGamma =
/// 0x9E3779B97F4A7C15 to x. Then it does these steps:
/// - x ← (x ⊕ x≫30) · 0xBF58476D1CE4E5B9
/// - x ← (x ⊕ x≫27) · 0x94D049BB133111EB
/// - x ← x ⊕ x≫31
std::uint64_t randomBits(std::uint64_t seed, std::uint64_t index);

/// A token that might be sampled.
struct LikelyToken {
  TokenId token = 0;
  float probability = 0;  ///< before temperature and filters
  bool operator==(const LikelyToken&) const = default;
};
/// Returns the first `count` tokens in the order of step 2, or all tokens if there are fewer. The
/// probabilities come from step 4, as in sampleRow(). Empty for a row with a fault. At most kMostLogits
/// logits.
std::vector<LikelyToken> topTokens(std::span<const float> logits, std::size_t count);

/// Samples a token by the steps above, one after the other. Faster implementations are tested against this
/// function. Throws Failure like checkRow().
SampledToken sampleRow(const SamplingRow& row);

}  // namespace spanscope::compute
