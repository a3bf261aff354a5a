// SPDX-License-Identifier: GPL-3.0-or-later
// Loads and stores rows of bf16, eight elements at a time. If the row length is a multiple of eight, a load
// or store has 16 bytes. Otherwise it has a single element. Open this file before you write a kernel on rows.
#pragma once

#include "kernels/cuda/device.h"

namespace spanscope::cuda {

inline constexpr int kVectorElements = 8;

struct Bf16Vector {
  float elements[kVectorElements];
};

/// Returns the elements first … first + 7 of a row. Elements beyond the row are 0. `first` must be a multiple
/// of 8. If `columns` is also a multiple of 8, the row must start at a multiple of 16 bytes.
SPANSCOPE_DEVICE Bf16Vector loadVector(const Bf16* row, int first, int columns) {
  Bf16Vector result;
  if (columns % kVectorElements == 0) {
    const Words4 words = load16(row + first);
    SPANSCOPE_UNROLL
    for (int i = 0; i < kVectorElements / 2; ++i) {
      result.elements[2 * i] = floatOf(words.words[i] << 16U);
      result.elements[2 * i + 1] = floatOf(words.words[i] & 0xFFFF0000U);
    }
  } else {
    SPANSCOPE_UNROLL
    for (int i = 0; i < kVectorElements; ++i)
      result.elements[i] = first + i < columns ? toFloat(row[first + i]) : 0.0F;
  }
  return result;
}

/// Rounds the values and stores those inside the row.
SPANSCOPE_DEVICE void storeVector(Bf16* row, int first, int columns, const Bf16Vector& values) {
  if (columns % kVectorElements == 0) {
    Words4 words;
    SPANSCOPE_UNROLL
    for (int i = 0; i < kVectorElements / 2; ++i)
      words.words[i] = packBf16(values.elements[2 * i], values.elements[2 * i + 1]);
    store16(row + first, words);
  } else {
    SPANSCOPE_UNROLL
    for (int i = 0; i < kVectorElements; ++i) {
      if (first + i < columns) row[first + i] = toBf16(values.elements[i]);
    }
  }
}

/// Copies a row of `columns` elements with all threads of the thread block. If `columns` is a multiple of 8,
/// 16 bytes are copied at a time. In this case, the rows must start at multiples of 16 bytes.
SPANSCOPE_DEVICE void copyRow(Bf16* target, const Bf16* source, int columns) {
  if (columns % kVectorElements == 0) {
    for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements)
      store16(target + i, load16(source + i));
  } else {
    for (int i = threadIndex(); i < columns; i += threadCount()) target[i] = source[i];
  }
}

}  // namespace spanscope::cuda
