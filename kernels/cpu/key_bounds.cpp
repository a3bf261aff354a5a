// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/key_bounds.h"

#include "kernels/cpu/kv_store.h"

namespace spanscope::cpu {

void KeyBounds::open() {
  if (!m_known.empty()) return;
  const auto blocks = static_cast<std::int64_t>(m_shape.layers) * m_shape.blocks;
  m_bounds = AlignedBuffer(checkedBytes("bounds of keys", blocks * m_shape.heads, m_shape.headSize, 2,
                                        static_cast<std::int64_t>(sizeof(float))),
                           "bounds of keys");
  m_known.assign(static_cast<std::size_t>(blocks), 0);
}

void learnBounds(Executor& executor, const CpuAttentionPlan& plan, const CpuKvStore& store,
                 std::int32_t layer) {
  const compute::KvShape& shape = store.shape();
  KeyBounds& bounds = store.keyBounds();
  bounds.open();
  std::vector<BlockId> unknown;
  for (const PlannedRun& run : plan.runs()) {
    if (run.mostBlocks == 0) continue;
    for (const PlannedRange& range : run.ranges) {
      const std::int64_t first = (range.begin + shape.blockSize - 1) / shape.blockSize;
      const std::int64_t last = run.limit(range, run.rowCount - 1) / shape.blockSize;
      for (std::int64_t i = first; i < last; ++i) {
        const BlockId block = range.blocks[static_cast<std::size_t>(i)];
        if (bounds.isKnown(layer, block)) continue;
        bounds.know(layer, block);
        unknown.push_back(block);
      }
    }
  }
  const auto tiles = static_cast<std::int64_t>(unknown.size()) * shape.heads;
  const auto measure = [&](auto element, BlockId block, std::int64_t head) {
    using Element = decltype(element);
    measureBounds(store.keys<Element>(layer, block, head), shape.headSize, shape.blockSize, 0,
                  shape.blockSize, bounds.of(layer, block, head));
  };
  executor.runWhole(tiles, tiles * store.headElements(), [&](std::int64_t tile, int) {
    const BlockId block = unknown[static_cast<std::size_t>(tile / shape.heads)];
    if (shape.type == compute::DType::BF16) {
      measure(std::uint16_t{}, block, tile % shape.heads);
    } else {
      measure(float{}, block, tile % shape.heads);
    }
  });
}

}  // namespace spanscope::cpu
