// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/rows/bf16_vectors.h"
#include "kernels/cuda/rows/gated_activation.h"

namespace spanscope::cuda {

namespace {

constexpr float kLog2E = 1.44269504088896340736F;
constexpr float kGeluFactor = 2 * 0.79788456080286535588F;  // 2 · √(2/π)
constexpr float kGeluCubic = kGeluFactor * 0.044715F;
constexpr int kBlockElements = kGatedActivationBudget.threads * kVectorElements;

}  // namespace

/// A block for each row and each stretch of kBlockElements columns.
SPANSCOPE_KERNEL(kGatedActivationBudget) gatedActivationKernel(GatedActivationArguments arguments) {
  const std::int64_t row = blockIndex().x;
  const int columns = arguments.columns;
  const int first = blockIndex().y * kBlockElements + threadIndex() * kVectorElements;
  if (first >= columns) return;
  const Bf16Vector gate = loadVector(arguments.gate + row * arguments.stride, first, columns);
  Bf16Vector values = loadVector(arguments.up + row * arguments.stride, first, columns);
  SPANSCOPE_UNROLL
  for (int i = 0; i < kVectorElements; ++i) {
    const float g = gate.elements[i];
    const float factor = arguments.isGelu ? kGeluFactor + kGeluCubic * g * g : 1.0F;
    values.elements[i] *= divideExact(g, 1.0F + exp2Fast(-g * factor * kLog2E));
  }
  storeVector(arguments.out + row * columns, first, columns, values);
}

void gatedActivation(Stream& stream, const GatedActivationArguments& arguments) {
  const int stretches = (arguments.columns + kBlockElements - 1) / kBlockElements;
  launch(stream, "gatedActivation",
         {.grid = {arguments.rows, stretches}, .threads = kGatedActivationBudget.threads},
         gatedActivationKernel, arguments);
}

}  // namespace spanscope::cuda
