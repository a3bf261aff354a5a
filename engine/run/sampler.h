// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"

#include <cstdint>
#include <span>

namespace spanscope::run {

struct SamplingSettings {
  float temperature = 0;  ///< 0: greedy (lowest id of the largest logits)
  std::int32_t topK = 0;  ///< 0: off
  float topP = 1;         ///< 1: off
  std::uint64_t seed = 0;
};

struct SampledToken {
  TokenId token = 0;
  float probability = 0;  ///< before temperature and filters
};

/// Draws token number `index` of a reply. The same logits, settings and index always give the same token: the
/// random number is a hash of seed and index, and no state is kept. Throws Failure if no logit is finite.
SampledToken sample(std::span<const float> logits, const SamplingSettings& settings, std::uint64_t index);

}  // namespace spanscope::run
