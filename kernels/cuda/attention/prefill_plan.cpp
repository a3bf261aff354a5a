// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/attention/prefill_plan.h"

#include "kernels/cuda/attention/prefill_attention.h"

#include <algorithm>
#include <cstddef>

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

namespace {

/// Adds the keys of a tile's rows, divided at multiples of `splitKeys` positions. Keys before the windows of
/// all rows are left out.
void addItems(const PrefillPlan& rows, std::int32_t group, std::int32_t splitKeys, SplitPlan& plan) {
  SplitTile& tile = plan.tiles.back();
  const PrefillRun& run = rows.runs[static_cast<std::size_t>(tile.run)];
  const std::int32_t firstRow = run.firstRow + tile.firstPair / group;
  const std::int32_t lastRow = run.firstRow + (tile.firstPair + tile.pairs - 1) / group;
  const std::int32_t firstLocal = rows.locals[static_cast<std::size_t>(firstRow)];
  const std::int32_t lastLocal = rows.locals[static_cast<std::size_t>(lastRow)];
  for (std::int32_t r = run.firstRange; r < run.firstRange + run.rangeCount; ++r) {
    const PrefillRange& range = rows.ranges[static_cast<std::size_t>(r)];
    const std::int32_t end = range.causal != 0 ? std::min(range.end, lastLocal + 1) : range.end;
    for (std::int32_t begin = std::max(range.begin, firstLocal + range.windowOffset); begin < end;) {
      const std::int32_t next = std::min(end, (begin / splitKeys + 1) * splitKeys);
      plan.items.push_back({.tile = static_cast<std::int32_t>(plan.tiles.size()) - 1,
                            .range = r,
                            .begin = begin,
                            .end = next});
      begin = next;
    }
  }
  tile.itemCount = static_cast<std::int32_t>(plan.items.size()) - tile.firstItem;
}

}  // namespace

SplitPlan planSplit(std::span<const RowRun> runs, std::int32_t rows, std::int32_t group,
                    std::int64_t mostPartials, std::int32_t splitKeys, std::int64_t keptRotations) {
  SplitPlan plan;
  plan.rows = planPrefill(runs, rows, group, keptRotations);
  for (const PrefillItem& item : plan.rows.items) {
    const PrefillRun& run = plan.rows.runs[static_cast<std::size_t>(item.run)];
    plan.tiles.push_back({.run = item.run,
                          .firstPair = item.firstPair,
                          .pairs = std::min(kPrefillTilePairs, run.rowCount * group - item.firstPair),
                          .firstItem = static_cast<std::int32_t>(plan.items.size())});
    addItems(plan.rows, group, splitKeys, plan);
    const SplitTile& tile = plan.tiles.back();
    const std::int64_t partials = std::int64_t{tile.pairs} * tile.itemCount;
    if (plan.launches.empty() || plan.launches.back().partials + partials > mostPartials)
      plan.launches.push_back(
          {.firstTile = static_cast<std::int32_t>(plan.tiles.size()) - 1, .firstItem = tile.firstItem});
    SplitLaunch& launch = plan.launches.back();
    for (std::int32_t i = 0; i < tile.itemCount; ++i)
      plan.items[static_cast<std::size_t>(tile.firstItem + i)].firstPartial =
          launch.partials + std::int64_t{i} * tile.pairs;
    ++launch.tileCount;
    launch.itemCount += tile.itemCount;
    launch.partials += partials;
  }
  return plan;
}

}  // namespace spanscope::cuda
