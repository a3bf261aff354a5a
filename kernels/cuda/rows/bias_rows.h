// SPDX-License-Identifier: GPL-3.0-or-later
// Fills rows with a bias. Open this file to change products with a bias.
#pragma once

#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// out[r] = bias, or out[r] + bias. A matrix product is added to this later.
struct BiasRowsArguments {
  const float* bias = nullptr;  ///< [columns]
  void* out = nullptr;          ///< [rows][columns]
  bool outIsFloat = false;      ///< f32, else bf16
  bool accumulate = false;
  int rows = 0;
  int columns = 0;

  bool operator==(const BiasRowsArguments&) const = default;
};

inline constexpr KernelBudget kBiasRowsBudget{"biasRowsKernel", 128, 12, 0};

void biasRows(Stream& stream, const BiasRowsArguments& arguments);

}  // namespace spanscope::cuda
