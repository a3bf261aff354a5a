// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/fast/pair_product.h"

#if defined(__x86_64__)
#include "kernels/cpu/fast/fast_kernels.h"
#endif

namespace spanscope::cpu {

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
