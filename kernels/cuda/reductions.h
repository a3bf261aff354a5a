// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over the threads of a warp or a thread block, in a fixed order. Open this file to reduce values in a
// kernel.
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// Returns the sum over the warp. Every lane gets the same result.
template <class T>
SPANSCOPE_DEVICE T warpSum(T value) {
  SPANSCOPE_UNROLL
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) value += shuffleXor(value, distance);
  return value;
}

/// Returns the largest value in the warp. Every lane gets the same result. NaN is ignored.
SPANSCOPE_DEVICE float warpLargest(float value) {
  SPANSCOPE_UNROLL
  for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
    const float other = shuffleXor(value, distance);
    value = other > value ? other : value;
  }
  return value;
}

/// Returns the sum over the thread block. Every thread gets the same result. `scratch` is shared memory with
/// one place per warp. The caller may use `scratch` again after the next barrier.
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
