// SPDX-License-Identifier: GPL-3.0-or-later
// Gathers rows of a matrix. Open this file to change how rows are chosen.
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out[i] = x[rows[i]]. The GPU may have chosen the indices.
struct GatherRowsArguments {
  const Bf16* x = nullptr;             ///< [any number][columns]
  const std::int32_t* rows = nullptr;  ///< [count], each a row of x
  Bf16* out = nullptr;                 ///< [count][columns]; must not overlap x
  int count = 0;
  int columns = 0;

  bool operator==(const GatherRowsArguments&) const = default;
};

inline constexpr KernelBudget kGatherRowsBudget{"gatherRowsKernel", 128, 16, 0};

void gatherRows(Stream& stream, const GatherRowsArguments& arguments);

}  // namespace spanscope::cuda
