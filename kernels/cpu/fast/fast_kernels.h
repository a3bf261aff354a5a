// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of products in Arithmetic::Fast, for each set of instructions that has them, and the choice
// among them.
#pragma once

#include "kernels/cpu/fast/low_precision.h"
#include "kernels/cpu/matmul.h"

namespace spanscope::cpu {

MatmulKernels avx512PairKernels();  ///< AVX512_BF16
MatmulKernels amxPairKernels();     ///< AMX_BF16

MatmulKernels avx2ByteKernels();
MatmulKernels avxVnniByteKernels();  ///< AVX2 and AVX-VNNI
MatmulKernels vnniByteKernels();     ///< AVX512_VNNI
MatmulKernels amxByteKernels();      ///< AMX_INT8 and AVX512_VNNI

// Products of activations and packed weights by bytes.
//
// A block of 32 activations becomes integers of eight bits and a factor, the largest of their magnitudes
// divided by 127. The sum over the elements that share a scale of the weight is exact. Its product with the
// block's factor is rounded; then the weight's factor times that is added to the sum in f32, as is the
// weight's minimum times the sum of the activations: one chain of multiply-adds over the parts. Then the bias
// is added, then the old value. So, as in matmul.h, the bits of a row depend on nothing beside it; nor do
// they on the instructions that compute the exact sums.

/// For weights in CpuWeight::Layout::ByteGroups. Without functions where there are none.
MatmulKernels byteKernels(ByteDots dots);

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

/// For weights in CpuWeight::Layout::Bf16Pairs. Without functions where there are none.
MatmulKernels pairKernels(PairDots dots);

}  // namespace spanscope::cpu
