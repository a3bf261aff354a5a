// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/sampling.h"

#include "engine/base/hash.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

namespace spanscope::compute {
namespace {

/// Returns the best token, or the fault of the logits.
SampledToken bestToken(std::span<const float> logits) {
  std::size_t best = logits.size();
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const float logit = logits[id];
    if (!(logit < std::numeric_limits<float>::infinity())) {
      return {.token = static_cast<TokenId>(id),
              .fault = std::isnan(logit) ? LogitFault::NotANumber : LogitFault::Infinite};
    }
    if (std::isfinite(logit) && (best == logits.size() || logit > logits[best])) best = id;
  }
  if (best == logits.size()) return {.fault = LogitFault::NoneFinite};
  return {.token = static_cast<TokenId>(best)};
}

}  // namespace

Error describeFault(const SampledToken& token, std::uint64_t index, std::int32_t count) {
  const std::string logit = "logit " + std::to_string(token.token) + " of " + std::to_string(count);
  Error error{.file = {},
              .place = "sampling token " + std::to_string(index),
              .found = /*id:no-finite-logit*/ "no finite logit among " + std::to_string(count),
              .expected = /*id:finite-logits-weights*/ "finite logits. The weights may be damaged"};
  if (token.fault == LogitFault::NotANumber)
    error.found = logit + /*id:not-number*/ ", which is not a number";
  if (token.fault == LogitFault::Infinite) error.found = logit + ", which is infinite";
  return error;
}

void checkRow(const SamplingRow& row) {
  if (row.logits.size() <= kMostLogits) return;
  throw Failure({.file = {},
                 .place = "sampling",
                 .found = std::to_string(row.logits.size()) + " logits a row",
                 .expected = "at most " + std::to_string(kMostLogits)});
}

float exponentScale(float temperature) {
  constexpr double kLog2E = 1.4426950408889634;
  // The value is clamped before it is rounded: a double outside of the range of f32 has no f32.
  return static_cast<float>(std::clamp(kLog2E / static_cast<double>(temperature), 0x1p-126,
                                       static_cast<double>(std::numeric_limits<float>::max())));
}

float power(float y) {
  if (!(y >= kLeastExponent)) return 0;
  const float n = std::nearbyint(y);
  const float f = y - n;
  float p = kPowerTerms.back();
  for (std::size_t term = kPowerTerms.size() - 1; term-- > 0;) p = p * f + kPowerTerms[term];
  return std::ldexp(p * f + 1.0F, static_cast<int>(n));
}

std::uint64_t weightOf(float power) {
  return static_cast<std::uint64_t>(std::ldexp(power, kWeightBits));
}

float probabilityOf(float power, std::uint64_t total) {
  return power / std::ldexp(static_cast<float>(total), -kWeightBits);
}

std::uint64_t multiplyHigh(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t mask = 0xFFFFFFFFU;
  const std::uint64_t low = (a & mask) * (b & mask);
  const std::uint64_t cross = (a >> 32U) * (b & mask) + (low >> 32U);
  const std::uint64_t other = (a & mask) * (b >> 32U) + (cross & mask);
  return (a >> 32U) * (b >> 32U) + (cross >> 32U) + (other >> 32U);
}

std::uint64_t weightToKeep(std::uint64_t total, float topP) {
  const std::uint64_t share = topP > 0 ? static_cast<std::uint64_t>(std::ldexp(topP, 64)) : 0;
  const std::uint64_t high = multiplyHigh(total, share);
  const bool exact = total * share == 0;  // the lower half of the product
  return std::max<std::uint64_t>(1, exact ? high : high + 1);
}

std::uint64_t randomBits(std::uint64_t seed, std::uint64_t index) {
  return mixBits(mixBits(seed) + index * kGoldenGamma);
}

std::vector<LikelyToken> topTokens(std::span<const float> logits, std::size_t count) {
  const SampledToken first = bestToken(logits);
  if (first.fault != LogitFault::None) return {};
  const float best = logits[static_cast<std::size_t>(first.token)];
  const float scale = exponentScale(1);
  std::uint64_t total = 0;
  for (const float logit : logits) total += weightOf(power((logit - best) * scale));
  std::vector<std::size_t> ids(logits.size());
  std::iota(ids.begin(), ids.end(), std::size_t{0});
  const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(count, ids.size()));
  std::partial_sort(ids.begin(), end, ids.end(), [&](std::size_t a, std::size_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  std::vector<LikelyToken> tokens;
  for (auto id = ids.begin(); id != end; ++id) {
    tokens.push_back({.token = static_cast<TokenId>(*id),
                      .probability = probabilityOf(power((logits[*id] - best) * scale), total)});
  }
  return tokens;
}

SampledToken sampleRow(const SamplingRow& row) {
  checkRow(row);
  const std::span<const float> logits = row.logits;
  SampledToken result = bestToken(logits);
  if (result.fault != LogitFault::None) return result;
  const float best = logits[static_cast<std::size_t>(result.token)];
  const auto powerOf = [&](std::size_t id, float scale) { return power((logits[id] - best) * scale); };

  const float plainScale = exponentScale(1);
  std::uint64_t total = 0;
  for (std::size_t id = 0; id < logits.size(); ++id) total += weightOf(powerOf(id, plainScale));

  const SamplingSettings& settings = row.settings;
  if (settings.temperature > 0) {
    const float scale = exponentScale(settings.temperature);
    std::vector<std::size_t> kept(logits.size());
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    if (settings.topK > 0 || settings.topP < 1) {
      std::ranges::sort(kept, [&](std::size_t a, std::size_t b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
      });
    }
    if (settings.topK > 0 && static_cast<std::size_t>(settings.topK) < kept.size())
      kept.resize(static_cast<std::size_t>(settings.topK));
    std::vector<std::uint64_t> weights(logits.size());
    std::uint64_t sum = 0;
    for (const std::size_t id : kept) {
      weights[id] = weightOf(powerOf(id, scale));
      sum += weights[id];
    }
    if (settings.topP < 1) {
      const std::uint64_t least = weightToKeep(sum, settings.topP);
      std::size_t count = 0;
      for (sum = 0; sum < least; ++count) sum += weights[kept[count]];
      kept.resize(count);
    }
    if (!std::ranges::is_sorted(kept)) std::ranges::sort(kept);
    const std::uint64_t target = multiplyHigh(randomBits(settings.seed, row.index), sum);
    std::uint64_t reached = 0;
    for (const std::size_t id : kept) {
      reached += weights[id];
      if (reached <= target) continue;
      result.token = static_cast<TokenId>(id);
      break;
    }
  }
  result.probability = probabilityOf(powerOf(static_cast<std::size_t>(result.token), plainScale), total);
  return result;
}

}  // namespace spanscope::compute
