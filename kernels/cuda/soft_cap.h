// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds a number by a soft cap. Open this file to change soft caps of scores and logits on the GPU.
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// Returns limit · tanh(value / limit).
SPANSCOPE_DEVICE float softCapped(float value, float limit) {
  constexpr float kTwiceLog2E = 2 * 1.44269504088896340736F;
  const float size = value < 0 ? -value : value;
  const float power = exp2Fast(-kTwiceLog2E * divideExact(size, limit));
  const float capped = limit * divideExact(1.0F - power, 1.0F + power);
  return value < 0 ? -capped : capped;
}

}  // namespace spanscope::cuda
