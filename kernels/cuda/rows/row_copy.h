// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/rows/bf16_vectors.h"

namespace spanscope::cuda {

/// Copies a row of `columns` elements by all threads of the block. Rows whose columns are a multiple of 8 go
/// by 16 bytes; they must start at multiples of 16.
SPANSCOPE_DEVICE void copyRow(Bf16* target, const Bf16* source, int columns) {
  if (columns % kVectorElements == 0) {
    for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements)
      store16(target + i, load16(source + i));
  } else {
    for (int i = threadIndex(); i < columns; i += threadCount()) target[i] = source[i];
  }
}

}  // namespace spanscope::cuda
