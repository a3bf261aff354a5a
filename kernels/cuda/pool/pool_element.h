// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

/// An element of the pool: float or Bf16.
template <class T>
SPANSCOPE_DEVICE T toElement(float value);
template <>
SPANSCOPE_DEVICE float toElement<float>(float value) {
  return value;
}
template <>
SPANSCOPE_DEVICE Bf16 toElement<Bf16>(float value) {
  return toBf16(value);
}

SPANSCOPE_DEVICE float toFloat(float value) {
  return value;
}

}  // namespace spanscope::cuda
