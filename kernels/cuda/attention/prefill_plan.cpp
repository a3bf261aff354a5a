// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/attention/prefill_plan.h"

#include "kernels/cuda/attention/prefill_attention.h"

namespace spanscope::cuda {

PrefillPlan planPrefill(std::span<const RowRun> runs, std::int32_t rows, std::int32_t group,
                        std::int64_t keptRotations) {
  PrefillPlan plan;
  plan.locals.assign(static_cast<std::size_t>(rows), 0);
  for (const RowRun& run : runs) {
    for (const SegmentKeys& keys : run.keys) {
      plan.rotations.add(run.base - keys.base + run.firstLocal,
                         std::int64_t{run.lastLocal()} - run.firstLocal + 1);
    }
  }
  plan.rotations.close(keptRotations);
  for (const RowRun& run : runs) {
    const auto number = static_cast<std::int32_t>(plan.runs.size());
    plan.runs.push_back({.firstRow = run.firstRow,
                         .rowCount = run.rowCount,
                         .firstRange = static_cast<std::int32_t>(plan.ranges.size()),
                         .rangeCount = static_cast<std::int32_t>(run.keys.size())});
    for (const SegmentKeys& keys : run.keys) {
      const std::int64_t distance = run.base - keys.base;
      plan.ranges.push_back({.firstBlock = static_cast<std::int32_t>(plan.blocks.size()),
                             .begin = keys.begin,
                             .end = keys.end,
                             .causal = keys.causal ? 1 : 0,
                             .windowOffset = run.windowOffset(keys),
                             .rotation = static_cast<std::int32_t>(
                                 distance + plan.rotations.offsetOf(distance + run.firstLocal))});
      plan.blocks.insert(plan.blocks.end(), keys.blocks.begin(), keys.blocks.end());
    }
    for (std::int32_t i = 0; i < run.rowCount; ++i) {
      const std::int32_t row = run.firstRow + i;
      plan.locals[static_cast<std::size_t>(row)] = run.localOf(i);
    }
    for (std::int32_t pair = 0; pair < run.rowCount * group; pair += kPrefillTilePairs)
      plan.items.push_back({.run = number, .firstPair = pair});
  }
  return plan;
}

}  // namespace spanscope::cuda
