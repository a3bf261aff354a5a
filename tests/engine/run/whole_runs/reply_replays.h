// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/run/session.h"
#include "tests/engine/run/whole_runs/difference.h"
#include "tests/engine/run/whole_runs/run_record.h"

#include <cstdint>

namespace spanscope::test {

/// A session after one of its runs.
struct AfterRun {
  run::Session& session;
  WatchingSink& sink;
  const RunRecord& record;
};

/// Settings of the run whose answers are replayed through the model.
struct ReplaySetting {
  const policy::Choice& policy;
  const plan::Plan& plan;
  std::int32_t topK = 0;
  float topP = 1;
  bool hasRoom = false;     ///< the warm session's pool holds any prompt
  bool isRecorded = false;  ///< the attention of all rows, layers and heads was recorded
};

/// Replays the answers of a run through the model, warm and cold. Checks that they are sampled from the same
/// numbers and attend to the same tokens as in the run, and that cached blocks are still cache hits.
Differences checkReplays(AfterRun warm, AfterRun cold, const ReplaySetting& setting);

}  // namespace spanscope::test
