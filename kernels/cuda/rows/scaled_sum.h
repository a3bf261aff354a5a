// SPDX-License-Identifier: GPL-3.0-or-later
// Scales and adds vectors. Open this file to change residual sums.
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out = outFactor · out + factor · x, without the second product if x is null.
struct ScaledSumArguments {
  const Bf16* x = nullptr;  ///< [count]
  void* out = nullptr;      ///< [count]
  bool outIsFloat = false;  ///< f32, else bf16
  float outFactor = 1;
  float factor = 0;
  std::int64_t count = 0;

  bool operator==(const ScaledSumArguments&) const = default;
};

inline constexpr KernelBudget kScaledSumBudget{"scaledSumKernel", 128, 12, 0};

void scaledSum(Stream& stream, const ScaledSumArguments& arguments);

}  // namespace spanscope::cuda
