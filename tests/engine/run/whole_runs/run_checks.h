// SPDX-License-Identifier: GPL-3.0-or-later
// Checks what is promised of a run, whatever the cache held when the run began. Each check returns what does
// not hold.
#pragma once

#include "engine/run/prediction.h"
#include "tests/engine/run/whole_runs/difference.h"
#include "tests/engine/run/whole_runs/run_record.h"

#include <vector>

namespace spanscope::test {

/// Checks that a run with a cache equals the run without one: prompts, tokens, the bits of their
/// probabilities, texts, and the bits of their attention. A stopped run is compared as far as it came.
Differences compareRuns(const RunRecord& warm, const RunRecord& cold);

/// Checks that an exact prediction is right, token for token and block for block, and that the bounds of an
/// inexact prediction hold.
Differences checkPrediction(const run::Prediction& predicted, const plan::Plan& plan, const RunRecord& ran);

/// Checks that the events, live or from a file, lead to the engine's state, that their figures equal those of
/// the result, and that no block is held when nothing runs.
Differences checkTrace(const WatchingSink& sink, const RunRecord& ran, const trace::PoolState& pool,
                       RunId run);

/// Checks that the figures of each step add up.
Differences checkFigures(const RunRecord& ran);

}  // namespace spanscope::test
