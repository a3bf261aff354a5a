// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/fast_kernels.h"

namespace spanscope::cpu {

MatmulKernels byteKernels(ByteDots dots) {
#if defined(__x86_64__)
  if (dots == ByteDots::Amx) return amxByteKernels();
  if (dots == ByteDots::Vnni) return vnniByteKernels();
  if (dots == ByteDots::AvxVnni) return avxVnniByteKernels();
  if (dots == ByteDots::Avx2) return avx2ByteKernels();
#else
  (void)dots;
#endif
  return {};
}

MatmulKernels pairKernels(PairDots dots) {
#if defined(__x86_64__)
  if (dots == PairDots::Amx) return amxPairKernels();
  if (dots == PairDots::Avx512) return avx512PairKernels();
#else
  (void)dots;
#endif
  return {};
}

}  // namespace spanscope::cpu
