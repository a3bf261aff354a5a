// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/rows/gather_rows.h"
#include "kernels/cuda/rows/bf16_vectors.h"

namespace spanscope::cuda {

/// A block for each row.
SPANSCOPE_KERNEL(kGatherRowsBudget) gatherRowsKernel(GatherRowsArguments arguments) {
  const int row = blockIndex().x;
  const std::int64_t columns = arguments.columns;
  copyRow(arguments.out + row * columns, arguments.x + arguments.rows[row] * columns, arguments.columns);
}

void gatherRows(Stream& stream, const GatherRowsArguments& arguments) {
  launch(stream, "gatherRows", {.grid = {arguments.count}, .threads = kGatherRowsBudget.threads},
         gatherRowsKernel, arguments);
}

}  // namespace spanscope::cuda
