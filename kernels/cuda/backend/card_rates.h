// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"
#include "kernels/cuda/runtime.h"

#include <cstddef>

namespace spanscope::cuda {

/// How much is computed and copied for one sample.
struct RateSizes {
  int side = 4096;                              ///< of square bf16 matrices
  std::size_t bytes = std::size_t{512} << 20U;  ///< of a copy on the card, which reads and writes
  int repeats = 10;
};

/// Measures the rate of the library of matrix products and of a copy; the best of several repeats.
compute::MachineRates measureCard(const Device& device, const RateSizes& sizes = {});

}  // namespace spanscope::cuda
