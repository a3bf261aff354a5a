// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the partial result of attention over some keys. Open this file before you merge partial results.
#pragma once

#include <limits>

namespace spanscope::cuda {

/// Scores are multiplied by this number, so that weights are powers of two.
inline constexpr float kLog2E = 1.44269504088896340736F;
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// The partial result of some keys for one row and query head. `sum` is the sum over these keys of 2^(score −
/// largest). The weighted sum of values is stored elsewhere. Scores are in units of log 2.
struct PartialSum {
  float largest;  ///< −∞, with a sum of 0, if no key is read
  float sum;
};

}  // namespace spanscope::cuda
