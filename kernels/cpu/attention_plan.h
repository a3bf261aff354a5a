// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"
#include "kernels/cpu/rotary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::cpu {

/// A key range, and the rotations for the queries that read it.
struct PlannedRange {
  std::vector<BlockId> blocks;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t base = 0;  ///< position of local token 0 in the view
  bool causal = false;
  /// Rotations by the number of tokens between the first row of the run and a row. Entry 0 is for the
  /// distance between the first row and the base of the range's segment.
  RotaryRows rotary;

  std::int64_t keys() const { return std::max<std::int64_t>(0, end - begin); }
};

/// Keys that are attended to by themselves: their result is joined to those before it. They are a part of a
/// range, or several ranges of few keys.
struct KeyStretch {
  std::uint32_t range = 0;
  std::int64_t begin = 0;  ///< local tokens; those that lie in the range
  std::int64_t end = 0;
  /// More than 1: all keys of so many ranges from `range` on, of which some may have none; then `begin` is 0
  /// and `end` the number of their keys.
  std::uint32_t ranges = 1;
};

struct PlannedRun {
  std::int64_t firstRow = 0;
  std::int64_t rowCount = 0;
  std::vector<std::int32_t> locals;  ///< of each row, ascending
  std::vector<PlannedRange> ranges;
  std::vector<KeyStretch> stretches;  ///< of all ranges, in view order
  std::int32_t mostBlocks = 0;        ///< as in compute::QueryRun
  std::int64_t base = 0;              ///< position of the rows' local token 0 in the view
  std::int64_t window = 0;            ///< as in compute::AttentionShape

  std::int64_t local(std::int64_t row) const { return locals[static_cast<std::size_t>(row)]; }
  /// One past the last local token of `range` that the row reads.
  std::int64_t limit(const PlannedRange& range, std::int64_t row) const {
    return range.causal ? std::min(local(row) + 1, range.end) : range.end;
  }
  /// The first local token of `range` that the row reads. It may lie behind limit(), where the row reads
  /// nothing of the range.
  std::int64_t start(const PlannedRange& range, std::int64_t row) const {
    if (window == 0) return range.begin;
    return std::max(range.begin, base + local(row) - window + 1 - range.base);
  }
  /// The rotation for the row's queries that read `range`.
  const float* rotation(const PlannedRange& range, std::int64_t row) const {
    return range.rotary.row(local(row) - locals.front());
  }
};

/// Some rows of one run, with all query heads of one key head.
struct AttentionRows {
  std::uint32_t run = 0;
  std::int64_t firstRow = 0;  ///< in the run
  std::int64_t rowCount = 0;
  std::int32_t keyHead = 0;
};

/// Rows whose stretches are several tasks. The last of them to end joins what all have left.
struct AttentionJoin {
  AttentionRows rows;
  std::int64_t tasks = 0;
  std::int64_t firstResult = 0;  ///< place of the first stretch's result among those of all joins
};

/// The work that a thread does at once: all stretches of some rows, or some of them.
struct AttentionTask {
  AttentionRows rows;
  std::size_t firstStretch = 0;
  std::size_t endStretch = 0;
  std::int32_t join = -1;  ///< index; −1: all stretches
};

class CpuAttentionPlan {
 public:
  /// The inputs must have been checked (compute::checkPass).
  CpuAttentionPlan(const compute::AttentionShape& shape, const compute::RotaryTable& rotary,
                   const compute::PassInputs& inputs, std::int64_t blockSize, RotaryCache& cache);

  const compute::AttentionShape& shape() const { return m_shape; }
  const std::vector<PlannedRun>& runs() const { return m_runs; }
  const std::vector<AttentionTask>& tasks() const { return m_tasks; }
  const std::vector<AttentionJoin>& joins() const { return m_joins; }
  std::int64_t results() const { return m_results; }  ///< results of stretches that all joins join
  std::int64_t rowsPerTask() const { return m_rowsPerTask; }
  /// Multiply-adds of all tasks. Where rows are few, reading their keys and values takes longer and counts as
  /// so many.
  std::int64_t work() const { return m_work; }
  bool choosesBlocks() const { return m_choosesBlocks; }  ///< whether a run does not read all blocks

 private:
  void addTasks(const PlannedRun& run, const AttentionRows& rows, bool isSplit);

  compute::AttentionShape m_shape;
  std::int64_t m_rowsPerTask = 1;
  std::int64_t m_work = 0;
  bool m_choosesBlocks = false;
  std::vector<PlannedRun> m_runs;
  std::vector<AttentionTask> m_tasks;
  std::vector<AttentionJoin> m_joins;
  std::int64_t m_results = 0;
};

}  // namespace spanscope::cpu
