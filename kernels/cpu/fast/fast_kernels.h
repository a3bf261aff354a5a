// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of products in Arithmetic::Fast for each set of instructions that has them; byte_product.h and
// pair_product.h choose.
#pragma once

#include "kernels/cpu/matmul.h"

namespace spanscope::cpu {

MatmulKernels avx512PairKernels();  ///< AVX512_BF16
MatmulKernels amxPairKernels();     ///< AMX_BF16

MatmulKernels avx2ByteKernels();
MatmulKernels avxVnniByteKernels();  ///< AVX2 and AVX-VNNI
MatmulKernels vnniByteKernels();     ///< AVX512_VNNI
MatmulKernels amxByteKernels();      ///< AMX_INT8 and AVX512_VNNI

}  // namespace spanscope::cpu
