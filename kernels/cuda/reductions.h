// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over the threads of a warp or block, in one order.
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// The same in every lane.
template <class T>
SPANSCOPE_DEVICE T warpSum(T value) {
  SPANSCOPE_UNROLL
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) value += shuffleXor(value, distance);
  return value;
}

/// The same in every lane; NaN is passed over.
SPANSCOPE_DEVICE float warpLargest(float value) {
  SPANSCOPE_UNROLL
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    const float other = shuffleXor(value, distance);
    value = other > value ? other : value;
  }
  return value;
}

/// The same in every thread. `scratch` is shared, a place for each warp; it may be used again after the next
/// barrier.
template <class T>
SPANSCOPE_DEVICE T blockSum(T value, T* scratch) {
  value = warpSum(value);
  if (laneIndex() == 0) scratch[warpIndex()] = value;
  syncBlock();
  T sum = 0;
  for (int warp = 0; warp < warpCount(); ++warp) sum += scratch[warp];
  return sum;
}

}  // namespace spanscope::cuda
