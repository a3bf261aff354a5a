// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/split_lists.h"

#include "kernels/cuda/backend/upload_list.h"

#include <algorithm>

namespace spanscope::cuda {

SplitLists::SplitLists(UploadList& lists, const SplitPlan& plan, PassRotations& rotations) {
  if (plan.tiles.empty()) return;
  m_tiles = lists.add(plan.tiles);
  m_items = lists.add(plan.items);
  m_runs = lists.add(plan.rows.runs);
  m_ranges = lists.add(plan.rows.ranges);
  m_locals = lists.add(plan.rows.locals);
  m_blocks = lists.add(plan.rows.blocks);
  m_cosSin = rotations.add(plan.rows.rotations, lists);
  m_launches = plan.launches;
}

std::size_t SplitLists::scratchBytes(const KeyValuePool& pool) const {
  std::int64_t most = 0;
  for (const SplitLaunch& launch : m_launches) most = std::max(most, launch.partials * pool.heads);
  return static_cast<std::size_t>(most) *
         (static_cast<std::size_t>(pool.headSize) * sizeof(float) + sizeof(PartialSum));
}

void SplitLists::attend(DeviceWork& work, std::byte* scratch, const std::byte* uploaded,
                        const PassRotations& rotations, const compute::AttentionShape& shape,
                        const float* rowScales, const KeyValuePool& pool, std::int32_t layer,
                        const Bf16* queries, Bf16* out) const {
  const auto at = [&]<class T>(const T*& list, std::size_t place) {
    list = reinterpret_cast<const T*>(uploaded + place);
  };
  SplitAttentionArguments arguments;
  PrefillAttentionArguments& rows = arguments.rows;
  rows.queries = queries;
  rows.queryStride = std::int64_t{shape.queryHeads} * shape.headSize;
  rows.queryHeads = shape.queryHeads;
  rows.scale = shape.scale;
  rows.softCap = shape.softCap;
  rows.rowScales = rowScales;
  rows.pool = pool;
  rows.layer = layer;
  at(rows.runs, m_runs);
  at(rows.ranges, m_ranges);
  at(rows.locals, m_locals);
  at(rows.blocks, m_blocks);
  rows.cosSin = rotations.at(m_cosSin, uploaded);
  rows.out = out;
  at(arguments.tiles, m_tiles);
  at(arguments.items, m_items);
  for (const SplitLaunch& launch : m_launches) {
    const auto partials = static_cast<std::size_t>(launch.partials * pool.heads);
    arguments.launch = launch;
    arguments.partialValues = reinterpret_cast<float*>(scratch);
    arguments.partialSums = reinterpret_cast<PartialSum*>(
        scratch + partials * static_cast<std::size_t>(pool.headSize) * sizeof(float));
    work.give(attendSplit, arguments);
  }
}

}  // namespace spanscope::cuda
