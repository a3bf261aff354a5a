// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows of a pass go on where it is narrowed, exactly: every backend keeps the same ones for equal
// scores.
#pragma once

#include "engine/compute/pass.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::compute {

/// Of each group of the next narrowing the rows with the largest scores, of equal ones (−0 equals +0) the
/// earlier; by their place in the pass, ascending. scores: one a row; a NaN counts as the largest.
std::vector<std::int32_t> chooseRows(const PassInputs& inputs, std::span<const float> scores);

/// What is left of a pass when these rows go on, `rows` being a choice as above: runs that lost all of theirs
/// are gone, from the lists of runs and of masses asked for too, and the next narrowing is done.
PassInputs narrowed(const PassInputs& inputs, std::span<const std::int32_t> rows);

/// Throws Failure unless the inputs can be narrowed as often as they say: groups that cover the runs, which
/// cover the rows; as many groups each time; of each group no more rows than it has, and no fewer of them
/// each time; and rows and masses that are wanted in groups that keep all of theirs.
void checkNarrowing(const PassInputs& inputs);

/// A pass on its way, for backends: its inputs as they are now, and which of its first rows are left.
class Narrowing {
 public:
  /// Throws Failure as checkNarrowing.
  explicit Narrowing(const PassInputs& inputs);

  /// Takes the next step; the rows that go on, by their place before it. Throws Failure where there is none
  /// or there is not a score for each row.
  std::vector<std::int32_t> step(std::span<const float> scores);

  const PassInputs& inputs() const { return m_inputs; }
  /// By their place in the first inputs.
  const std::vector<std::int32_t>& kept() const { return m_kept; }

 private:
  PassInputs m_inputs;
  std::vector<std::int32_t> m_kept;
};

}  // namespace spanscope::compute
