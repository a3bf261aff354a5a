// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the memory needs of the GPU backend. Open this file when a model does not fit.
#pragma once

#include "engine/compute/backends.h"

namespace spanscope::cuda {

/// Returns the memory needs of a GPU. Matrices and activations are bf16 for any type in the checkpoint. Heads
/// of a store are padded (paddedHeadSize). Passes also need memory for partial results, lists and the
/// workspace of matrix products.
compute::MemoryRules cardMemoryRules();

}  // namespace spanscope::cuda
