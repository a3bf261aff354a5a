// SPDX-License-Identifier: GPL-3.0-or-later
// Says exactly which rows of a pass remain when the pass is narrowed: equal scores give the same rows on
// every backend.
#pragma once

#include "engine/compute/pass.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::compute {

/// The rows that remain after the next narrowing, by their place in the pass, ascending. Of each group these
/// are the rows with the largest scores; of equal scores (−0 equals +0) the earlier row. scores: one per row;
/// a NaN counts as the largest.
std::vector<std::int32_t> chooseRows(const PassInputs& inputs, std::span<const float> scores);

/// The inputs of the pass after a narrowing to `rows`, which chooseRows() returned. A run that lost all its
/// rows is gone, also from the list of runs whose mass is asked for. The first narrowing is removed from the
/// list.
PassInputs narrowed(const PassInputs& inputs, std::span<const std::int32_t> rows);

/// Throws Failure unless the narrowings of the inputs are possible: the groups cover the runs, and the runs
/// cover the rows; every narrowing has the same groups; a group keeps no more rows than it has left; and if
/// logits, hidden states or masses are wanted in a group, this group keeps all its rows.
void checkNarrowing(const PassInputs& inputs);

/// The narrowings of a pass in progress, for backends: its current inputs, and which of its first rows are
/// left.
class Narrowing {
 public:
  /// Throws Failure as checkNarrowing().
  explicit Narrowing(const PassInputs& inputs);

  /// Does the next narrowing. Returns the rows that remain, by their place before this step. Throws Failure
  /// if there is no narrowing left, or not exactly one score per row.
  std::vector<std::int32_t> step(std::span<const float> scores);

  const PassInputs& inputs() const { return m_inputs; }
  /// The rows that are left, by their place in the first inputs.
  const std::vector<std::int32_t>& kept() const { return m_kept; }

 private:
  PassInputs m_inputs;
  std::vector<std::int32_t> m_kept;
};

}  // namespace spanscope::compute
