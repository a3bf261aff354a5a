// SPDX-License-Identifier: GPL-3.0-or-later
// Which rows of a pass go on where it is narrowed, exactly: every backend keeps the same ones for equal
// scores.
#pragma once

#include "engine/compute/pass.h"

#include <cstdint>
#include <span>
#include <vector>

namespace spanscope::compute {

/// Of each run the PassInputs::keptRows rows with the largest scores, of equal ones (−0 equals +0) the
/// earlier; by their place in the pass, ascending. scores: one a row, none of them NaN.
std::vector<std::int32_t> chooseRows(const PassInputs& inputs, std::span<const float> scores);

/// What is left of a pass when these rows go on, `rows` being a choice as above.
PassInputs narrowed(const PassInputs& inputs, std::span<const std::int32_t> rows);

/// Throws Failure unless the inputs can be narrowed: a number for each run, at least 1 and at most its rows,
/// runs that cover the rows, and rows that are wanted in runs that keep all of theirs.
void checkNarrowing(const PassInputs& inputs);

}  // namespace spanscope::compute
