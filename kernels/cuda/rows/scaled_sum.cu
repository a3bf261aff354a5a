// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/rows/scaled_sum.h"

namespace spanscope::cuda {

SPANSCOPE_KERNEL(kScaledSumBudget) scaledSumKernel(ScaledSumArguments arguments) {
  const std::int64_t i = static_cast<std::int64_t>(blockIndex().x) * kScaledSumBudget.threads + threadIndex();
  if (i >= arguments.count) return;
  const float added = arguments.x == nullptr ? 0.0F : arguments.factor * toFloat(arguments.x[i]);
  if (arguments.outIsFloat) {
    float* const out = static_cast<float*>(arguments.out) + i;
    *out = arguments.outFactor * *out + added;
  } else {
    Bf16* const out = static_cast<Bf16*>(arguments.out) + i;
    *out = toBf16(arguments.outFactor * toFloat(*out) + added);
  }
}

void scaledSum(Stream& stream, const ScaledSumArguments& arguments) {
  const std::int64_t blocks = (arguments.count + kScaledSumBudget.threads - 1) / kScaledSumBudget.threads;
  launch(stream, "scaledSum", {.grid = {static_cast<int>(blocks)}, .threads = kScaledSumBudget.threads},
         scaledSumKernel, arguments);
}

}  // namespace spanscope::cuda
