// SPDX-License-Identifier: GPL-3.0-or-later
// What is promised of a run, whatever the cache held when it began. Each check gives what does not hold.
#pragma once

#include "engine/run/prediction.h"
#include "tests/engine/run/whole_runs/difference.h"
#include "tests/engine/run/whole_runs/run_record.h"

#include <vector>

namespace spanscope::test {

/// A run from the cache is the run without one: prompts, tokens, the bits of their probabilities, texts, and
/// the bits of what they looked at. Of a run that was stopped, as far as it came.
Differences compareRuns(const RunRecord& warm, const RunRecord& cold);

/// A forecast that says a number is right, token for token and block for block; one that gives bounds holds.
Differences checkForecast(const run::Prediction& predicted, const plan::Plan& plan, const RunRecord& ran);

/// The state that the events give, live or from a file, is the engine's; its figures are those of the result;
/// and when nothing runs nobody holds a block.
Differences checkTrace(const WatchingSink& sink, const RunRecord& ran, const trace::PoolState& pool,
                       RunId run);

/// The figures of each step add up.
Differences checkFigures(const RunRecord& ran);

}  // namespace spanscope::test
