// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <limits>

namespace spanscope::cuda {

/// Scores are multiplied with it, so that weights are powers of two.
inline constexpr float kLog2E = 1.44269504088896340736F;
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// What some keys leave for one row and query head: the sum over them of 2^(score − largest); that sum of
/// values lies elsewhere. Scores are in units of log 2.
struct PartialSum {
  float largest;  ///< −∞ and a sum of 0 if no key is read
  float sum;
};

}  // namespace spanscope::cuda
