// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// Copies the first `slots` slots of one physical block to another, in all layers.
struct BlockCopy {
  std::int32_t source = 0;
  std::int32_t target = 0;
  std::int32_t slots = 0;  ///< 0: nothing
};

struct BlockCopiesArguments {
  const BlockCopy* copies = nullptr;  ///< [count]; no target is the source or target of another
  int count = 0;
  KeyValuePool pool;
};

inline constexpr KernelBudget kBlockCopiesBudget{"blockCopiesKernel", 128, 12, 0};

void copyBlocks(Stream& stream, const BlockCopiesArguments& arguments);

}  // namespace spanscope::cuda
