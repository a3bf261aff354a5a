// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the RMS norm of rows. Open this file to change norms on the GPU.
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out[r] = x[r] / √(mean(x[r]²) + epsilon) · weight. If `added` is set, x[r] first becomes x[r] + added[r],
/// rounded to bf16 once.
struct RmsNormArguments {
  Bf16* x = nullptr;              ///< [rows][columns]; written only if `added` is set
  const Bf16* added = nullptr;    ///< [rows][columns], or null
  const float* weight = nullptr;  ///< [columns]
  Bf16* out = nullptr;            ///< [rows][columns]; must not overlap the others
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
