// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of products in Arithmetic::Fast, for each instruction set, and the choice among them. Open this
// file for the exact arithmetic.
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
// A block of 32 activations becomes integers of eight bits and a factor. The factor is the max magnitude
// divided by 127. The sum over the elements that share a scale of the weight is exact. The product of this
// sum and the block's factor is rounded. For each part, a multiply-add adds the weight's factor times this
// product to the f32 sum of the output element. The weight's minimum times the sum of the activations is also
// added. All these additions are one chain of multiply-adds over the parts. Then the bias is added, then the
// old value. As in matmul.h, the bits of a row do not depend on other rows. The bits also do not depend on
// the instructions of the exact sums.

/// For weights in CpuWeight::Layout::ByteGroups. Without functions if the processor has no such instructions.
MatmulKernels byteKernels(ByteDots dots);

// Products of activations and bf16 weights by pairs of bf16 elements.
//
// Activations are rounded to bf16, to nearest, ties to even. Subnormal activations become zero. The order of
// the sum of an element depends on the instructions:
// - AVX512_BF16: one chain over pairs of k, in f32. The chain adds the product of the odd elements and then
//   the product of the even elements.
// - AMX_BF16: one chain over steps of 32 k. The last step is filled with zeros. In a step, the products of
//   even elements and of odd elements have separate sums from zero, in f32. The sum of both sums is added.
//
// Then the bias is added, then the old value. A chain is never split. As in matmul.h, the bits of a row do
// not depend on other rows.

/// For weights in CpuWeight::Layout::Bf16Pairs. Without functions if the processor has no such instructions.
MatmulKernels pairKernels(PairDots dots);

}  // namespace spanscope::cpu
