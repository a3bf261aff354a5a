// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the max use of a multiprocessor by a kernel. Each kernel has a budget beside its definition. The
// budget limits the compiler: the number of thread blocks limits the registers. A test compares the budget
// with the compiler's report. Open this file to read budgets.
#pragma once

#include "kernels/cuda/annotations.h"

#include <cstddef>

namespace spanscope::cuda {

struct KernelBudget {
  const char* kernel;  ///< a name without template arguments means the kernel with any of them
  int threads;         ///< of a thread block
  int blocks;          ///< min number of thread blocks on a multiprocessor at the same time
  std::size_t
      sharedBytes;  ///< of a thread block; if the size varies, for the shape in the comment beside the budget
};

/// Returns the bytes of SharedMemory::take<T>(count). Every array starts at a multiple of 16 bytes.
template <class T>
SPANSCOPE_HOST_DEVICE constexpr std::size_t sharedBytesOf(std::size_t count) {
  return (count * sizeof(T) + 15U) / 16U * 16U;
}

}  // namespace spanscope::cuda
