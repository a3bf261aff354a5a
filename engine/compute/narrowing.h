// SPDX-License-Identifier: GPL-3.0-or-later
// Defines which rows of a forward pass remain when the forward pass is narrowed. Equal scores give the same
// rows on every backend. Open this file when a policy recomputes the wrong tokens.
#pragma once

#include "engine/compute/pass.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::compute {

/// Returns the rows that remain after the next narrowing, by their index in the forward pass, ascending. In
/// each group, the rows with the largest scores remain. Of equal scores (−0 equals +0), the earlier row
/// remains. scores: one per row. A NaN counts as the largest score.
std::vector<std::int32_t> chooseRows(const PassInputs& inputs, std::span<const float> scores);

/// Returns the inputs of the forward pass after a narrowing to `rows`, the result of chooseRows(). A run
/// without rows is removed, also from the list of runs whose mass is requested. The first narrowing is
/// removed from the list.
PassInputs narrowed(const PassInputs& inputs, std::span<const std::int32_t> rows);

/// Throws Failure unless the narrowings of the inputs are possible:
/// - The groups cover the runs, and the runs cover the rows.
/// - Every narrowing has the same groups.
/// - A group keeps no more rows than it has left.
/// - A group keeps all its rows if logits, hidden states or masses of its rows are requested.
void checkNarrowing(const PassInputs& inputs);

/// The narrowings of a forward pass in progress, for backends. Holds the current inputs, and the indices of
/// the original rows that remain.
class Narrowing {
 public:
  /// Throws Failure like checkNarrowing().
  explicit Narrowing(const PassInputs& inputs);

  /// Does the next narrowing. Returns the remaining rows, by their index before this narrowing. Throws
  /// Failure if there is no narrowing left, or not exactly one score per row.
  std::vector<std::int32_t> step(std::span<const float> scores);

  const PassInputs& inputs() const { return m_inputs; }
  /// Returns the remaining rows, by their index in the original inputs.
  const std::vector<std::int32_t>& kept() const { return m_kept; }

 private:
  PassInputs m_inputs;
  std::vector<std::int32_t> m_kept;
};

}  // namespace spanscope::compute
