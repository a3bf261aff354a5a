// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/sampler.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace spanscope::run {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): a hash of a counter that passes the usual tests of randomness.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

/// Uniform in [0, 1), 53 bits.
double uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<double>(mix(mix(seed) ^ index) >> 11U) * 0x1.0p-53;
}

/// Not a number counts as smallest, so that it is never drawn.
double finiteOr(float logit, double other) {
  return std::isfinite(logit) ? static_cast<double>(logit) : other;
}

}  // namespace

SampledToken sample(std::span<const float> logits, const SamplingSettings& settings, std::uint64_t index) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  std::size_t best = logits.size();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isfinite(logits[i]) && (best == logits.size() || logits[i] > logits[best])) best = i;
  }
  if (best == logits.size()) {
    throw Failure({.file = {},
                   .place = "sampling token " + std::to_string(index),
                   .found = "no finite logit among " + std::to_string(logits.size()),
                   .expected = "at least one; the weights may be damaged"});
  }
  const double largest = static_cast<double>(logits[best]);

  double total = 0;
  for (const float logit : logits) total += std::exp(finiteOr(logit, kNever) - largest);
  const auto result = [&](std::size_t token) {
    return SampledToken{
        .token = static_cast<TokenId>(token),
        .probability = static_cast<float>(std::exp(finiteOr(logits[token], kNever) - largest) / total)};
  };
  if (!(settings.temperature > 0)) return result(best);

  // Candidates in the order in which they are drawn from: by id if nothing is filtered, else likeliest first.
  std::vector<std::size_t> candidates(logits.size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  const bool cutK = settings.topK > 0 && static_cast<std::size_t>(settings.topK) < logits.size();
  const bool cutP = settings.topP < 1;
  if (cutK || cutP) {
    const auto likelier = [&](std::size_t a, std::size_t b) {
      const double x = finiteOr(logits[a], kNever);
      const double y = finiteOr(logits[b], kNever);
      return x != y ? x > y : a < b;
    };
    if (cutK) {
      const auto end = candidates.begin() + settings.topK;
      std::partial_sort(candidates.begin(), end, candidates.end(), likelier);
      candidates.erase(end, candidates.end());
    } else {
      std::sort(candidates.begin(), candidates.end(), likelier);
    }
  }

  std::vector<double> weights(candidates.size());
  double sum = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double scaled =
        (finiteOr(logits[candidates[i]], kNever) - largest) / static_cast<double>(settings.temperature);
    weights[i] = std::exp(scaled);
    sum += weights[i];
  }
  if (cutP) {
    // The smallest set of likeliest tokens whose probability reaches topP; never empty.
    double reached = 0;
    std::size_t kept = 0;
    while (kept < weights.size() && (kept == 0 || reached < static_cast<double>(settings.topP) * sum)) {
      reached += weights[kept++];
    }
    weights.resize(kept);
    sum = reached;
  }

  const double target = uniform(settings.seed, index) * sum;
  double reached = 0;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    chosen = i;
    reached += weights[i];
    if (target < reached) break;
  }
  return result(candidates[chosen]);
}

}  // namespace spanscope::run
