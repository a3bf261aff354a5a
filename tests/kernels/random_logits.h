// SPDX-License-Identifier: GPL-3.0-or-later
// Random logits and settings that try cases in which sampling may go wrong.
#pragma once

#include "engine/compute/sampling.h"
#include "tests/support/random_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <vector>

namespace spanscope::testing {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kLargest = std::numeric_limits<float>::max();

/// A random element of `values`.
template <class T>
T oneOf(Random& random, std::initializer_list<T> values) {
  return values.begin()[random.below(values.size())];
}

/// A row of logits: with many ties, with zeros of both signs, in order, with few possible tokens, or plain.
inline std::vector<float> randomLogits(Random& random, std::size_t count) {
  std::vector<float> logits(count);
  const double width = oneOf(random, {0.0, 1e-42, 1e-3, 1.0, 3.0, 10.0, 300.0, 1e38});
  const double middle = oneOf(random, {0.0, 0.0, -5.0, 1000.0});
  for (float& logit : logits)
    logit = static_cast<float>(middle + std::clamp(random.normal(), -3.0, 3.0) * width);
  switch (random.below(8)) {
    case 0:  // many ties
      for (float& logit : logits) logit = std::nearbyint(logit);
      break;
    case 1:  // zeros of both signs
      for (float& logit : logits) logit = oneOf(random, {0.0F, -0.0F, -1.0F, -0x1p-149F});
      break;
    case 2:  // much that is impossible
      for (float& logit : logits) {
        if (random.below(3) != 0) logit = -kInfinity;
      }
      break;
    case 3:
      std::sort(logits.begin(), logits.end());
      break;
    case 4:
      std::sort(logits.begin(), logits.end(), std::greater<>());
      break;
    case 5:
      logits[random.below(count)] = oneOf(random, {kLargest, -kLargest, 50.0F, -kInfinity});
      break;
    default:
      break;
  }
  return logits;
}

/// Random settings for rows of `count` logits. Some values lie beyond the useful range.
inline compute::SamplingSettings randomSettings(Random& random, std::size_t count) {
  compute::SamplingSettings settings;
  settings.temperature =
      oneOf(random, {0.0F, 1e-40F, 1e-6F, 0.1F, 0.7F, 1.0F, 1.0F, 1.3F, 10.0F, 100.0F, kLargest});
  settings.seed = random.next();
  if (random.below(2) == 0) settings.topK = static_cast<std::int32_t>(1 + random.below(count + 1));
  if (random.below(4) == 0) settings.topK = oneOf(random, {-1, 1, 2, 40});
  if (random.below(2) == 0) settings.topP = static_cast<float>(random.uniform());
  if (random.below(4) == 0)
    settings.topP =
        oneOf(random, {-1.0F, 0.0F, 1e-45F, 1e-7F, 0.5F, 0.9F, 0.95F, 0x1.fffffep-1F, 1.0F, 2.0F});
  return settings;
}

}  // namespace spanscope::testing
