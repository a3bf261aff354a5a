// SPDX-License-Identifier: GPL-3.0-or-later
// Functions for elements of the pool, float or Bf16, for kernels that support both. Open this file to support
// another type.
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

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

/// Number of elements in 16 bytes.
template <class T>
inline constexpr int kElementsPer16 = 16 / static_cast<int>(sizeof(T));

/// Loads 16 bytes of elements.
SPANSCOPE_DEVICE void loadElements(const Bf16* source, float (&values)[8]) {
  const Words4 words = load16(source);
  SPANSCOPE_UNROLL
  for (int i = 0; i < 4; ++i) {
    values[2 * i] = floatOf(words.words[i] << 16U);
    values[2 * i + 1] = floatOf(words.words[i] & 0xFFFF0000U);
  }
}
SPANSCOPE_DEVICE void loadElements(const float* source, float (&values)[4]) {
  const Words4 words = load16(source);
  SPANSCOPE_UNROLL
  for (int i = 0; i < 4; ++i) values[i] = floatOf(words.words[i]);
}

/// Loads two neighbouring elements. The first must be at an even place.
SPANSCOPE_DEVICE void loadPair(const Bf16* source, float& first, float& second) {
  const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(source);
  first = floatOf(word << 16U);
  second = floatOf(word & 0xFFFF0000U);
}
SPANSCOPE_DEVICE void loadPair(const float* source, float& first, float& second) {
  first = source[0];
  second = source[1];
}

}  // namespace spanscope::cuda
