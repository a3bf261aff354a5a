// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the blocks for rows that may not read all blocks, as engine/compute/block_choice.h specifies. The
// kernels bound the scores of the query vectors in each block, then choose the best blocks of each row. If
// the pool keeps bounds, the pool keeps the bounds of whole blocks. Bounds of other blocks are measured each
// time. Open this file to change the `sparse` policy on the GPU.
#pragma once

#include "kernels/cuda/attention/decode_plan.h"
#include "kernels/cuda/pool/key_value_pool.h"
#include "kernels/cuda/runtime.h"

#include <cstdint>

namespace spanscope::cuda {

struct BlockChoiceArguments {
  const Bf16* queries = nullptr;  ///< [rows] of [queryHeads][headSize], not rotated, `queryStride` elements
                                  ///< apart
  std::int64_t queryStride = 0;
  int queryHeads = 0;  ///< a multiple of the pool's heads, at most 16 per pool head
  KeyValuePool pool;
  int layer = 0;

  // From the plan.
  const ChoiceBlock* blocks = nullptr;
  int blockCount = 0;
  const ChoiceRow* rows = nullptr;
  int rowCount = 0;
  const float* cosSin = nullptr;

  float* bounds = nullptr;         ///< used between the kernels: [heads of the pool][blockCount]
  std::uint8_t* chosen = nullptr;  ///< [heads of the pool][blockCount]: 1 for blocks that are read, else 0

  bool operator==(const BlockChoiceArguments&) const = default;
};

inline constexpr KernelBudget kKeyBoundBudget{"keyBoundKernel", 32, 12, 0};
inline constexpr KernelBudget kBlockBoundBudget{"blockBoundKernel", 32, 12, 0};
inline constexpr KernelBudget kBlockChoiceBudget{"blockChoiceKernel", 128, 12, 0};

void chooseBlocks(Stream& stream, const BlockChoiceArguments& arguments);

}  // namespace spanscope::cuda
