// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out[r] = x[r] / √(mean(x[r]²) + epsilon) · weight, where x[r] becomes x[r] + added[r] first, rounded to
/// bf16 once, if there is something to add.
struct RmsNormArguments {
  Bf16* x = nullptr;              ///< [rows][columns]; written to only if something is added
  const Bf16* added = nullptr;    ///< [rows][columns], or null
  const float* weight = nullptr;  ///< [columns]
  Bf16* out = nullptr;            ///< [rows][columns]; shares nothing with the others
  int rows = 0;
  int columns = 0;
  float epsilon = 0;

  bool operator==(const RmsNormArguments&) const = default;
};

inline constexpr int kRmsNormThreads = 256;
inline constexpr KernelBudget kRmsNormBudget{"rmsNormKernel", kRmsNormThreads, 6,
                                             sharedBytesOf<float>(kRmsNormThreads / 32)};

void rmsNorm(Stream& stream, const RmsNormArguments& arguments);

}  // namespace spanscope::cuda
