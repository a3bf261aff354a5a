// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the max rates of Arithmetic::Fast. Open this file to add an instruction set to the limits.
#pragma once

#include <cstdint>

namespace spanscope::cpu {

/// Loops like those of LimitKernels, only on registers. Each loop returns the number of operations. A product
/// and its addition count as two. Null if this processor has no such instructions.
struct FastLimitKernels {
  double (*multiplyPairs)(std::int64_t rounds, float* sink) = nullptr;
  double (*multiplyBytes)(std::int64_t rounds, float* sink) = nullptr;
};

FastLimitKernels fastLimitKernels();

}  // namespace spanscope::cpu
