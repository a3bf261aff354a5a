// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/attention_plan.h"

namespace spanscope::cpu {

namespace {

// Queries (rows × heads of a group) of a task. The number is large enough to reuse keys in a near cache, and
// small enough to keep queries and sums there too.
constexpr std::int64_t kQueriesPerTask = 48;

// In forward passes with fewer tasks, the rows are also split along the keys. Every core then has some work.
constexpr std::size_t kEnoughTasks = 64;
// Max queries of a run whose tasks are split. With more queries, the use of each key keeps a core busy.
constexpr std::int64_t kMostSplitQueries = 16;
// Approximate number of multiply-adds in the time that a core takes to read an element from memory.
constexpr std::int64_t kReading = 16;
// Min number of keys of a task, if there are as many.
constexpr std::int64_t kLeastKeys = 256;

/// The local indices of a run's rows.
std::vector<std::int32_t> localsOf(const compute::QueryRun& run, const std::vector<std::int32_t>& all) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(run.firstRow);
  return {first, first + run.rowCount};
}

std::vector<KeyStretch> stretchesOf(const std::vector<PlannedRange>& ranges, std::int64_t stretchKeys) {
  const auto isShort = [](const PlannedRange& range) {
    return !range.causal && range.keys() <= kShortRangeKeys;
  };
  std::vector<KeyStretch> stretches;
  for (std::size_t index = 0; index < ranges.size(); ++index) {
    const PlannedRange& range = ranges[index];
    // Depends only on the ranges. All rows that read the same ranges thus have the same stretches.
    std::int64_t joined = 0;
    std::size_t next = index;
    std::size_t some = 0;
    for (; next < ranges.size() && isShort(ranges[next]); ++next) {
      const std::int64_t keys = ranges[next].keys();
      if (joined + keys > stretchKeys) break;
      joined += keys;
      some += keys > 0 ? 1 : 0;
    }
    if (some > 1) {
      stretches.push_back(
          {static_cast<std::uint32_t>(index), 0, joined, static_cast<std::uint32_t>(next - index)});
      index = next - 1;
      continue;
    }
    for (std::int64_t begin = range.begin; begin < range.end;) {
      const std::int64_t end = std::min(range.end, (begin / stretchKeys + 1) * stretchKeys);
      stretches.push_back({static_cast<std::uint32_t>(index), begin, end});
      begin = end;
    }
  }
  return stretches;
}

}  // namespace

CpuAttentionPlan::CpuAttentionPlan(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                                   const compute::PassInputs& inputs, std::int64_t blockSize,
                                   RotaryCache& cache)
    : m_shape(shape) {
  const std::int64_t group = shape.queryHeads / shape.keyHeads;
  m_rowsPerTask = std::max<std::int64_t>(1, kQueriesPerTask / group);
  m_runs.reserve(inputs.runs.size());
  std::size_t rowTasks = 0;
  for (std::size_t index = 0; index < inputs.runs.size(); ++index) {
    const compute::QueryRun& run = inputs.runs[index];
    PlannedRun planned{.firstRow = run.firstRow,
                       .rowCount = run.rowCount,
                       .locals = localsOf(run, inputs.localIndices),
                       .ranges = {},
                       .stretches = {},
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
    planned.stretches = stretchesOf(planned.ranges, KeyTiles(blockSize).stretchKeys());
    for (const PlannedRange& range : planned.ranges) {
      const std::int64_t all = std::max<std::int64_t>(0, range.end - range.begin);
      const std::int64_t keys = shape.window == 0 ? all : std::min<std::int64_t>(all, shape.window);
      m_work += 2 * keys * shape.headSize *
                std::max<std::int64_t>(planned.rowCount * shape.queryHeads, kReading * shape.keyHeads);
    }
    m_runs.push_back(std::move(planned));
    rowTasks += static_cast<std::size_t>(((run.rowCount - 1) / m_rowsPerTask + 1) * shape.keyHeads);
  }
  for (std::size_t index = 0; index < m_runs.size(); ++index) {
    const PlannedRun& run = m_runs[index];
    const bool isSplit =
        rowTasks < kEnoughTasks && run.mostBlocks == 0 && run.rowCount * group <= kMostSplitQueries;
    for (std::int64_t row = 0; row < run.rowCount; row += m_rowsPerTask) {
      const std::int64_t rows = std::min<std::int64_t>(m_rowsPerTask, run.rowCount - row);
      for (std::int32_t head = 0; head < shape.keyHeads; ++head)
        addTasks(run, {static_cast<std::uint32_t>(index), row, rows, head}, isSplit);
    }
  }
}

void CpuAttentionPlan::addTasks(const PlannedRun& run, const AttentionRows& rows, bool isSplit) {
  const std::size_t first = m_tasks.size();
  const std::size_t count = run.stretches.size();
  if (isSplit) {
    const auto join = static_cast<std::int32_t>(m_joins.size());
    std::int64_t keys = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count; ++i) {
      keys += run.stretches[i].end - run.stretches[i].begin;
      if (keys < kLeastKeys && i + 1 < count) continue;
      m_tasks.push_back({rows, begin, i + 1, join});
      begin = i + 1;
      keys = 0;
    }
  }
  if (m_tasks.size() > first + 1) {
    m_joins.push_back({rows, static_cast<std::int64_t>(m_tasks.size() - first), m_results});
    m_results += static_cast<std::int64_t>(count);
    return;
  }
  m_tasks.resize(first);
  m_tasks.push_back({rows, 0, count, -1});
}

}  // namespace spanscope::cpu
