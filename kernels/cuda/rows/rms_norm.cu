// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/reductions.h"
#include "kernels/cuda/rows/bf16_vectors.h"
#include "kernels/cuda/rows/rms_norm.h"

namespace spanscope::cuda {

/// A block for each row. A thread has the same elements in both passes, so that it reads what it wrote
/// itself.
SPANSCOPE_KERNEL(kRmsNormBudget) rmsNormKernel(RmsNormArguments arguments) {
  SharedMemory shared;
  float* const scratch = shared.take<float>(kRmsNormThreads / kWarpSize);
  const int columns = arguments.columns;
  const std::int64_t begin = static_cast<std::int64_t>(blockIndex().x) * columns;
  Bf16* const x = arguments.x + begin;
  float squares = 0;
  for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements) {
    Bf16Vector values = loadVector(x, i, columns);
    if (arguments.added != nullptr) {
      const Bf16Vector added = loadVector(arguments.added + begin, i, columns);
      SPANSCOPE_UNROLL
      for (int e = 0; e < kVectorElements; ++e)
        values.elements[e] = toFloat(toBf16(values.elements[e] + added.elements[e]));
      storeVector(x, i, columns, values);
    }
    SPANSCOPE_UNROLL
    for (int e = 0; e < kVectorElements; ++e)
      squares = multiplyAdd(values.elements[e], values.elements[e], squares);
  }
  const float mean = blockSum(squares, scratch) / static_cast<float>(columns);
  const float factor = inverseRootFast(mean + arguments.epsilon);
  for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements) {
    Bf16Vector values = loadVector(x, i, columns);
    SPANSCOPE_UNROLL
    for (int e = 0; e < kVectorElements; ++e) {
      if (i + e < columns) values.elements[e] *= factor * arguments.weight[i + e];
    }
    storeVector(arguments.out + begin, i, columns, values);
  }
}

void rmsNorm(Stream& stream, const RmsNormArguments& arguments) {
  launch(stream, "rmsNorm",
         {.grid = {arguments.rows},
          .threads = kRmsNormBudget.threads,
          .sharedBytes = kRmsNormBudget.sharedBytes},
         rmsNormKernel, arguments);
}

}  // namespace spanscope::cuda
