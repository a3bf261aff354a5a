// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cuda/backend/split_lists.h"

#include "kernels/cuda/backend/card_pass.h"

namespace spanscope::cuda {

SplitLists::SplitLists(UploadList& lists, const SplitPlan& plan, const compute::RotaryTable& rotary) {
  if (plan.tiles.empty()) return;
  const auto scale = static_cast<double>(rotary.attentionScale);
  m_tiles = lists.add(plan.tiles);
  m_items = lists.add(plan.items);
  m_runs = lists.add(plan.rows.runs);
  m_ranges = lists.add(plan.rows.ranges);
  m_locals = lists.add(plan.rows.locals);
  m_blocks = lists.add(plan.rows.blocks);
  m_cosSin = lists.add(plan.rows.rotations.table(rotary.inverseFrequencies, scale));
  m_launches = plan.launches;
}

void SplitLists::attend(Stream& stream, CardBuffers& buffers, const std::byte* uploaded,
                        const compute::AttentionShape& shape, const KeyValuePool& pool, std::int32_t layer,
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
  rows.pool = pool;
  rows.layer = layer;
  at(rows.runs, m_runs);
  at(rows.ranges, m_ranges);
  at(rows.locals, m_locals);
  at(rows.blocks, m_blocks);
  at(rows.cosSin, m_cosSin);
  rows.out = out;
  at(arguments.tiles, m_tiles);
  at(arguments.items, m_items);
  for (const SplitLaunch& launch : m_launches) {
    const auto partials = static_cast<std::size_t>(launch.partials * pool.heads);
    const std::size_t valueBytes = partials * static_cast<std::size_t>(pool.headSize) * sizeof(float);
    // It may go back while the kernels have yet to run: whoever takes it is behind them in the stream.
    const CardBuffer scratch = buffers.take(valueBytes + partials * sizeof(PartialSum));
    arguments.launch = launch;
    arguments.partialValues = reinterpret_cast<float*>(scratch.data());
    arguments.partialSums = reinterpret_cast<PartialSum*>(scratch.data() + valueBytes);
    attendSplit(stream, arguments);
  }
}

}  // namespace spanscope::cuda
