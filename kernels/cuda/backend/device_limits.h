// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the memory needs of the GPU backend, and measures the max rates of a GPU. Open this file when a
// model does not fit, or to add a rate to benchmarks.
#pragma once

#include "engine/compute/backends.h"
#include "kernels/cuda/runtime.h"

#include <cstddef>

namespace spanscope::cuda {

/// Returns the memory needs of a GPU. Matrices and activations are bf16 for any type in the checkpoint. Heads
/// of a store are padded (paddedHeadSize). Forward passes also need memory for partial results, lists and the
/// workspace of matrix products.
compute::MemoryRules deviceMemoryRules();

/// The amounts of computing and copying for one sample.
struct RateSizes {
  int side = 4096;                              ///< rows and columns of square bf16 matrices
  std::size_t bytes = std::size_t{512} << 20U;  ///< size of a copy on the GPU, which reads and writes
  int repeats = 10;
};

/// Measures the rates of matrix products and of a copy. Returns the best of several repeats.
compute::MachineRates measureDevice(const Device& device, const RateSizes& sizes = {});

}  // namespace spanscope::cuda
