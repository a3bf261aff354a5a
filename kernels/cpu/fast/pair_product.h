// SPDX-License-Identifier: GPL-3.0-or-later
// Products of activations and bf16 weights by pairs of bf16 elements.
//
// Activations are rounded to bf16, to the nearest, ties to even, and subnormal ones to zero. How an element
// of the result is summed up depends on the instructions:
// - AVX512_BF16: one chain over pairs of k, which adds the product of the odd elements and then that of the
//   even ones to the sum, in f32;
// - AMX_BF16: one chain over stretches of 32 k, the last filled with zeros. Of a stretch, the products of
//   the even elements and those of the odd ones are summed up on their own, from zero on, in f32; the sum of
//   the two is added.
// Then the bias is added, then the old value. A chain is never split. So, as in matmul.h, the bits of a row
// depend on nothing beside it.
#pragma once

#include "kernels/cpu/fast/low_precision.h"
#include "kernels/cpu/matmul.h"

namespace spanscope::cpu {

/// For weights in CpuWeight::Layout::Bf16Pairs. Without functions where there are none.
MatmulKernels pairKernels(PairDots dots);

}  // namespace spanscope::cpu
