// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backends.h"

namespace spanscope::cuda {

/// What a card takes: matrices and activations are bf16 whatever the checkpoint has, heads of a store are
/// padded (paddedHeadSize), and passes have partial results, lists and the workspace of matrix products.
compute::MemoryRules cardMemoryRules();

}  // namespace spanscope::cuda
