// SPDX-License-Identifier: GPL-3.0-or-later
// The kernels of products of bytes for each set of instructions that has them; byte_product.h chooses.
#pragma once

#include "kernels/cpu/matmul.h"

namespace spanscope::cpu {

MatmulKernels vnniByteKernels();  ///< AVX512_VNNI
MatmulKernels avx2ByteKernels();

}  // namespace spanscope::cpu
