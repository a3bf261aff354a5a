// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernels/cpu/attention_plan.h"

#include "engine/base/error.h"

#include <algorithm>
#include <string>

namespace spanscope::cpu {

namespace {

// Queries (rows × heads of a group) of a task: enough to reuse keys that are in a near cache, few enough that
// the queries and their sums stay there too.
constexpr std::int64_t kQueriesPerTask = 48;

[[noreturn]] void refuse(std::size_t run, const char* what, std::int64_t found, const std::string& expected) {
  throw Failure(Error{"", "attention, query run " + std::to_string(run) + ", " + what, std::to_string(found),
                      expected});
}

void check(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
           const compute::KvShape& store) {
  const bool fits = shape.keyHeads > 0 && shape.queryHeads > 0 && shape.queryHeads % shape.keyHeads == 0 &&
                    shape.keyHeads == store.heads && shape.headSize == store.headSize && shape.headSize > 0;
  if (!fits) {
    throw Failure(Error{"", "attention",
                        std::to_string(shape.queryHeads) + " query heads, " + std::to_string(shape.keyHeads) +
                            " key heads of " + std::to_string(shape.headSize),
                        std::to_string(store.heads) + " key heads of " + std::to_string(store.headSize) +
                            " as in the KV store, and a multiple of them as query heads"});
  }
  if (2 * rotary.inverseFrequencies.size() != static_cast<std::size_t>(shape.headSize)) {
    throw Failure(Error{"", "rotary table", std::to_string(rotary.inverseFrequencies.size()) + " frequencies",
                        std::to_string(shape.headSize / 2)});
  }
}

void check(std::size_t index, const compute::KeyRange& range, const compute::KvShape& store) {
  const auto slots = static_cast<std::int64_t>(range.blocks.size()) * store.blockSize;
  if (range.begin < 0) refuse(index, "begin of a key range", range.begin, "at least 0");
  if (range.end > slots) refuse(index, "end of a key range", range.end, "at most " + std::to_string(slots));
  for (const BlockId block : range.blocks) {
    if (block < 0 || block >= store.blocks) {
      refuse(index, "key block", block, "0 to " + std::to_string(store.blocks - 1));
    }
  }
}

/// The local indices of a run's rows.
std::vector<std::int32_t> localsOf(std::size_t index, const compute::QueryRun& run,
                                   const std::vector<std::int32_t>& all) {
  const auto rows = static_cast<std::int64_t>(all.size());
  if (run.firstRow < 0 || run.firstRow >= rows)
    refuse(index, "first row", run.firstRow, "less than " + std::to_string(rows));
  if (run.rowCount < 1 || run.rowCount > rows - run.firstRow)
    refuse(index, "row count", run.rowCount, "1 to " + std::to_string(rows - run.firstRow));
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(run.firstRow);
  std::vector<std::int32_t> locals(first, first + run.rowCount);
  const auto descent = std::is_sorted_until(locals.begin(), locals.end());
  if (descent != locals.end())
    refuse(index, "local index", *descent, "at least that of the row before, " + std::to_string(descent[-1]));
  return locals;
}

}  // namespace

CpuAttentionPlan::CpuAttentionPlan(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                                   const compute::KvShape& store, const compute::PassInputs& inputs,
                                   RotaryCache& cache)
    : m_shape(shape) {
  check(shape, rotary, store);
  const std::int64_t group = shape.queryHeads / shape.keyHeads;
  m_rowsPerTask = std::max<std::int64_t>(1, kQueriesPerTask / group);
  m_runs.reserve(inputs.runs.size());
  for (std::size_t index = 0; index < inputs.runs.size(); ++index) {
    const compute::QueryRun& run = inputs.runs[index];
    PlannedRun planned{run.firstRow, run.rowCount, localsOf(index, run, inputs.localIndices), {}};
    planned.ranges.reserve(run.keys.size());
    for (const compute::KeyRange& range : run.keys) {
      check(index, range, store);
      PlannedRange& target = planned.ranges.emplace_back();
      target.blocks = range.blocks;
      target.begin = range.begin;
      target.end = range.end;
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
      const std::int64_t keys = std::max<std::int64_t>(0, range.end - range.begin);
      m_work += 2 * keys * planned.rowCount * shape.queryHeads * shape.headSize;
    }
    m_runs.push_back(std::move(planned));
  }
}

}  // namespace spanscope::cpu
