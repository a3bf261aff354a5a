// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the head sizes for which the kernels on tensor cores are compiled. The loops of these kernels must be
// unrolled. Open this file to add a size.
#pragma once

#include "kernels/cuda/pool/key_value_pool.h"

namespace spanscope::cuda {

/// The sizes include the pool's padding.
inline constexpr int kTensorHeadSizes[] = {16, 32, 64, 80, 96, 128, 256};

/// Calls `work` with the head size as its template argument. Returns false if no kernel has this size.
template <class Work>
bool forTensorHeadSize(int headSize, Work work) {
  const auto tryOne = [&]<int HeadSize>() {
    if (headSize == HeadSize) work.template operator()<HeadSize>();
    return headSize == HeadSize;
  };
  return tryOne.template operator()<16>() || tryOne.template operator()<32>() ||
         tryOne.template operator()<64>() || tryOne.template operator()<80>() ||
         tryOne.template operator()<96>() || tryOne.template operator()<128>() ||
         tryOne.template operator()<256>();
}

/// Whether the kernels on tensor cores support this type and head size.
constexpr bool isForTensorCores(bool isFloat, int headSize) {
  for (const int size : kTensorHeadSizes) {
    if (headSize == size) return !isFloat;
  }
  return false;
}

}  // namespace spanscope::cuda
