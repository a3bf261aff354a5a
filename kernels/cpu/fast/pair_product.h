// SPDX-License-Identifier: GPL-3.0-or-later
// Products of activations and bf16 weights by pairs of bf16 elements (AVX512_BF16).
//
// Activations are rounded to bf16, to the nearest, ties to even, and subnormal ones to zero. Every element of
// the result is one chain over pairs of k: the processor's instruction adds the product of the odd elements
// and then that of the even ones to the sum, in f32. Then the bias is added, then the old value. A chain is
// never split. So, as in matmul.h, the bits of a row depend on nothing beside it.
#pragma once

#include "kernels/cpu/matmul.h"

namespace spanscope::cpu {

/// For weights in CpuWeight::Layout::Bf16Pairs. Without functions where the program was not compiled for
/// such processors.
MatmulKernels pairKernels();

}  // namespace spanscope::cpu
