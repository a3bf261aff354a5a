// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/rows/bias_rows.h"

namespace spanscope::cuda {

/// A block for each row.
SPANSCOPE_KERNEL(kBiasRowsBudget) biasRowsKernel(BiasRowsArguments arguments) {
  const std::int64_t first = static_cast<std::int64_t>(blockIndex().x) * arguments.columns;
  for (int i = threadIndex(); i < arguments.columns; i += threadCount()) {
    if (arguments.outIsFloat) {
      float* const out = static_cast<float*>(arguments.out) + first + i;
      *out = arguments.bias[i] + (arguments.accumulate ? *out : 0.0F);
    } else {
      Bf16* const out = static_cast<Bf16*>(arguments.out) + first + i;
      *out = toBf16(arguments.bias[i] + (arguments.accumulate ? toFloat(*out) : 0.0F));
    }
  }
}

void biasRows(Stream& stream, const BiasRowsArguments& arguments) {
  launch(stream, "biasRows", {.grid = {arguments.rows}, .threads = kBiasRowsBudget.threads}, biasRowsKernel,
         arguments);
}

}  // namespace spanscope::cuda
