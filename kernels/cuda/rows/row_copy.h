// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/rows/bf16_vectors.h"

namespace spanscope::cuda {

/// Copies a row of `columns` elements; all threads of the thread block take part. If `columns` is a multiple
/// of 8, 16 bytes are copied at a time; then the rows must start at multiples of 16 bytes.
SPANSCOPE_DEVICE void copyRow(Bf16* target, const Bf16* source, int columns) {
  if (columns % kVectorElements == 0) {
    for (int i = threadIndex() * kVectorElements; i < columns; i += threadCount() * kVectorElements)
      store16(target + i, load16(source + i));
  } else {
    for (int i = threadIndex(); i < columns; i += threadCount()) target[i] = source[i];
  }
}

}  // namespace spanscope::cuda
