// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/rotary.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::cpu {

/// A key range with what rotates the queries that read it.
struct PlannedRange {
  std::vector<BlockId> blocks;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool causal = false;
  RotaryRows rotary;  ///< by row of the run: its distance from the base of the range's segment
};

struct PlannedRun {
  std::int64_t firstRow = 0;
  std::int64_t rowCount = 0;
  std::int64_t firstLocal = 0;
  std::vector<PlannedRange> ranges;

  /// One past the last local token of `range` that a row of the run reads.
  std::int64_t limit(const PlannedRange& range, std::int64_t row) const {
    return range.causal && firstLocal + row + 1 < range.end ? firstLocal + row + 1 : range.end;
  }
};

/// Some rows of one run, all query heads of one key head: what a thread does at once.
struct AttentionTask {
  std::uint32_t run = 0;
  std::int64_t firstRow = 0;  ///< in the run
  std::int64_t rowCount = 0;
  std::int32_t keyHead = 0;
};

class CpuAttentionPlan final : public compute::AttentionPlan {
 public:
  /// Throws Failure for runs that do not fit the shapes: blocks outside the store, ranges outside their
  /// blocks.
  CpuAttentionPlan(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                   const compute::KvShape& store, std::span<const compute::QueryRun> runs,
                   RotaryCache& cache);

  const compute::AttentionShape& shape() const { return m_shape; }
  const std::vector<PlannedRun>& runs() const { return m_runs; }
  const std::vector<AttentionTask>& tasks() const { return m_tasks; }
  std::int64_t rowsPerTask() const { return m_rowsPerTask; }
  std::int64_t work() const { return m_work; }  ///< multiply-adds of all tasks

 private:
  compute::AttentionShape m_shape;
  std::int64_t m_rowsPerTask = 1;
  std::int64_t m_work = 0;
  std::vector<PlannedRun> m_runs;
  std::vector<AttentionTask> m_tasks;
};

inline const CpuAttentionPlan& cpuAttentionPlan(const compute::AttentionPlan& plan) {
  return static_cast<const CpuAttentionPlan&>(plan);
}

}  // namespace spanscope::cpu
