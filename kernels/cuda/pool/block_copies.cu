// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/device.h"
#include "kernels/cuda/pool/block_copies.h"

namespace spanscope::cuda {

namespace {

/// Copies by all threads of the block. Both addresses are multiples of 16 where `bytes` of a slot are, else
/// of 2 at least.
SPANSCOPE_DEVICE void copyBytes(std::byte* target, const std::byte* source, std::int64_t bytes, bool by16) {
  const std::int64_t step = by16 ? 16 : 2;
  for (std::int64_t i = threadIndex() * step; i < bytes; i += threadCount() * step) {
    if (by16) {
      store16(target + i, load16(source + i));
    } else {
      *reinterpret_cast<std::uint16_t*>(target + i) = *reinterpret_cast<const std::uint16_t*>(source + i);
    }
  }
}

}  // namespace

/// A block for each copy and layer.
SPANSCOPE_KERNEL(kBlockCopiesBudget) blockCopiesKernel(BlockCopiesArguments arguments) {
  const BlockCopy copy = arguments.copies[blockIndex().x];
  const KeyValuePool& pool = arguments.pool;
  const auto element = static_cast<std::int64_t>(pool.elementBytes());
  const std::int64_t slotBytes = pool.headSize * element;
  for (int head = 0; head < pool.heads; ++head) {
    const std::int64_t from = pool.placeOf(blockIndex().y, copy.source, head) * element;
    const std::int64_t to = pool.placeOf(blockIndex().y, copy.target, head) * element;
    for (void* const memory : {pool.keys, pool.values}) {
      auto* const bytes = static_cast<std::byte*>(memory);
      copyBytes(bytes + to, bytes + from, copy.slots * slotBytes, slotBytes % 16 == 0);
    }
    if (pool.bounds != nullptr && threadIndex() == 0)
      pool.bounded[pool.headOf(blockIndex().y, copy.target, head)] = 0;
  }
}

void copyBlocks(Stream& stream, const BlockCopiesArguments& arguments) {
  launch(stream, "copyBlocks",
         {.grid = {arguments.count, arguments.pool.layers}, .threads = kBlockCopiesBudget.threads},
         blockCopiesKernel, arguments);
}

}  // namespace spanscope::cuda
