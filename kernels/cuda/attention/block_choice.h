// SPDX-License-Identifier: GPL-3.0-or-later
// Which blocks rows read that may not read all, as engine/compute/block_choice.h specifies: bounds of what
// the queries could score in each block, then the best of each row. What is known of the keys of a whole
// block is kept in the pool, if it keeps any; that of others is measured each time.
#pragma once

#include "kernels/cuda/attention/decode_plan.h"
#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

#include <cstdint>

namespace spanscope::cuda {

struct BlockChoiceArguments {
  const Bf16* queries =
      nullptr;  ///< [rows] of [queryHeads][headSize], not rotated, `queryStride` elements apart
  std::int64_t queryStride = 0;
  int queryHeads = 0;  ///< a multiple of the pool's heads, at most 16 to one of them
  KeyValuePool pool;
  int layer = 0;

  // Of the plan.
  const ChoiceBlock* blocks = nullptr;
  int blockCount = 0;
  const ChoiceRow* rows = nullptr;
  int rowCount = 0;
  const float* cosSin = nullptr;

  float* bounds = nullptr;         ///< between the kernels: [heads of the pool][blockCount]
  std::uint8_t* chosen = nullptr;  ///< the same: 1 where the block is read, else 0

  bool operator==(const BlockChoiceArguments&) const = default;
};

inline constexpr KernelBudget kKeyBoundBudget{"keyBoundKernel", 32, 12, 0};
inline constexpr KernelBudget kBlockBoundBudget{"blockBoundKernel", 32, 12, 0};
inline constexpr KernelBudget kBlockChoiceBudget{"blockChoiceKernel", 128, 12, 0};

void chooseBlocks(Stream& stream, const BlockChoiceArguments& arguments);

}  // namespace spanscope::cuda
