// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/attention_plan.h"

#include <algorithm>
#include <string>

namespace spanscope::cpu {

namespace {

// Queries (rows × heads of a group) of a task: enough to reuse keys that are in a near cache, few enough that
// the queries and their sums stay there too.
constexpr std::int64_t kQueriesPerTask = 48;

/// The local indices of a run's rows.
std::vector<std::int32_t> localsOf(const compute::QueryRun& run, const std::vector<std::int32_t>& all) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(run.firstRow);
  return {first, first + run.rowCount};
}

}  // namespace

CpuAttentionPlan::CpuAttentionPlan(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                                   const compute::PassInputs& inputs, RotaryCache& cache)
    : m_shape(shape) {
  const std::int64_t group = shape.queryHeads / shape.keyHeads;
  m_rowsPerTask = std::max<std::int64_t>(1, kQueriesPerTask / group);
  m_runs.reserve(inputs.runs.size());
  for (std::size_t index = 0; index < inputs.runs.size(); ++index) {
    const compute::QueryRun& run = inputs.runs[index];
    PlannedRun planned{.firstRow = run.firstRow,
                       .rowCount = run.rowCount,
                       .locals = localsOf(run, inputs.localIndices),
                       .ranges = {},
                       .mostBlocks = run.mostBlocks,
                       .base = run.base,
                       .window = shape.window};
    m_choosesBlocks = m_choosesBlocks || run.mostBlocks > 0;
    planned.ranges.reserve(run.keys.size());
    for (const compute::KeyRange& range : run.keys) {
      PlannedRange& target = planned.ranges.emplace_back();
      target.blocks = range.blocks;
      target.begin = range.begin;
      target.end = range.end;
      target.base = range.base;
      target.causal = range.causal;
      const std::int32_t first = planned.locals.front();
      target.rotary = cache.rows(rotary, run.base + first - range.base, planned.locals.back() - first + 1);
    }
    for (std::int64_t row = 0; row < run.rowCount; row += m_rowsPerTask) {
      const std::int64_t rows = std::min<std::int64_t>(m_rowsPerTask, run.rowCount - row);
      for (std::int32_t head = 0; head < shape.keyHeads; ++head) {
        m_tasks.push_back({static_cast<std::uint32_t>(index), row, rows, head});
      }
    }
    for (const PlannedRange& range : planned.ranges) {
      const std::int64_t all = std::max<std::int64_t>(0, range.end - range.begin);
      const std::int64_t keys = shape.window == 0 ? all : std::min<std::int64_t>(all, shape.window);
      m_work += 2 * keys * planned.rowCount * shape.queryHeads * shape.headSize;
    }
    m_runs.push_back(std::move(planned));
  }
}

}  // namespace spanscope::cpu
