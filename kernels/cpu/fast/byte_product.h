// SPDX-License-Identifier: GPL-3.0-or-later
// Products of activations and packed weights by bytes.
//
// A block of 32 activations becomes integers of eight bits and a factor, the largest of their magnitudes
// divided by 127. The sum over the elements that share a scale of the weight is exact. Its product with the
// block's factor is rounded; then the weight's factor times that is added to the sum in f32, as is the
// weight's minimum times the sum of the activations: one chain of multiply-adds over the parts. Then the bias
// is added, then the old value. So, as in matmul.h, the bits of a row depend on nothing beside it; nor do
// they on the instructions that compute the exact sums.
#pragma once

#include "kernels/cpu/fast/low_precision.h"
#include "kernels/cpu/matmul.h"

namespace spanscope::cpu {

/// For weights in CpuWeight::Layout::ByteGroups. Without functions where there are none.
MatmulKernels byteKernels(ByteDots dots);

}  // namespace spanscope::cpu
