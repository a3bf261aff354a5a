// SPDX-License-Identifier: GPL-3.0-or-later
// What a kernel may take of a multiprocessor. A budget stands beside each kernel, binds the compiler (the
// number of blocks bounds the registers) and is held against the compiler's report by a test.
#pragma once

#include "kernels/cuda/annotations.h"

#include <cstddef>

namespace spanscope::cuda {

struct KernelBudget {
  const char* kernel;       ///< without template arguments: it holds for all of them
  int threads;              ///< of a block
  int blocks;               ///< that a multiprocessor holds at once, at least
  std::size_t sharedBytes;  ///< of a block; of the shape named beside it where that varies
};

/// Bytes that SharedMemory::take<T>(count) uses up: every array starts at a multiple of 16 bytes.
template <class T>
SPANSCOPE_HOST_DEVICE constexpr std::size_t sharedBytesOf(std::size_t count) {
  return (count * sizeof(T) + 15U) / 16U * 16U;
}

}  // namespace spanscope::cuda
