// SPDX-License-Identifier: GPL-3.0-or-later
// How much of a multiprocessor a kernel may use. A budget stands beside each kernel. It binds the compiler
// (the number of thread blocks limits the registers), and a test compares it with the compiler's report.
#pragma once

#include "kernels/cuda/annotations.h"

#include <cstddef>

namespace spanscope::cuda {

struct KernelBudget {
  const char* kernel;       ///< a name without template arguments means the kernel with any of them
  int threads;              ///< of a thread block
  int blocks;               ///< least number of thread blocks that a multiprocessor holds at the same time
  std::size_t sharedBytes;  ///< of a thread block; if it varies: for the shape that the comment beside it
                            ///< names
};

/// Bytes that SharedMemory::take<T>(count) uses: every array starts at a multiple of 16 bytes.
template <class T>
SPANSCOPE_HOST_DEVICE constexpr std::size_t sharedBytesOf(std::size_t count) {
  return (count * sizeof(T) + 15U) / 16U * 16U;
}

}  // namespace spanscope::cuda
