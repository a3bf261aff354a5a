// SPDX-License-Identifier: GPL-3.0-or-later
// Copies blocks of the pool on the GPU. Open this file to change copy-on-write there.
#pragma once

#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

namespace spanscope::cuda {

/// An instruction to copy the first `slots` slots of one physical block to another, in all layers.
struct BlockCopy {
  std::int32_t source = 0;
  std::int32_t target = 0;
  std::int32_t slots = 0;  ///< 0: nothing to copy
};

/// Max copies in one launch. The launch's arguments contain the copies. A separate list on the GPU would have
/// to outlive the call on the host.
inline constexpr int kMostBlockCopies = 128;

struct BlockCopiesArguments {
  BlockCopy copies[kMostBlockCopies] = {};  ///< no target may be the source or target of another copy
  int count = 0;
  KeyValuePool pool;
};

inline constexpr KernelBudget kBlockCopiesBudget{"blockCopiesKernel", 128, 12, 0};

void copyBlocks(Stream& stream, const BlockCopiesArguments& arguments);

}  // namespace spanscope::cuda
