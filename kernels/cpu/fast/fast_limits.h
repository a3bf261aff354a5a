// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::cpu {

/// Loops like those of LimitKernels, on registers only. Each returns the number of operations: a product and
/// its addition count as two. Null where this processor has no such instructions.
struct FastLimitKernels {
  double (*multiplyPairs)(std::int64_t rounds, float* sink) = nullptr;
  double (*multiplyBytes)(std::int64_t rounds, float* sink) = nullptr;
};

FastLimitKernels fastLimitKernels();

}  // namespace spanscope::cpu
