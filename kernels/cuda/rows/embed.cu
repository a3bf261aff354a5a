// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/rows/embed.h"
#include "kernels/cuda/rows/bf16_vectors.h"

namespace spanscope::cuda {

/// A block for each row.
SPANSCOPE_KERNEL(kEmbedBudget) embedKernel(EmbedArguments arguments) {
  const int row = blockIndex().x;
  const std::int64_t columns = arguments.columns;
  copyRow(arguments.out + row * columns, arguments.table + arguments.ids[row] * columns, arguments.columns);
}

void embed(Stream& stream, const EmbedArguments& arguments) {
  launch(stream, "embed", {.grid = {arguments.rows}, .threads = kEmbedBudget.threads}, embedKernel,
         arguments);
}

}  // namespace spanscope::cuda
