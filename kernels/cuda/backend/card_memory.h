// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

namespace spanscope::cuda {

/// The memory that a card needs. Matrices and activations are bf16 whatever the checkpoint's type is. Heads
/// of a store are padded (paddedHeadSize). Passes also need memory for partial results, lists and the
/// workspace of matrix products.
compute::MemoryRules cardMemoryRules();

}  // namespace spanscope::cuda
