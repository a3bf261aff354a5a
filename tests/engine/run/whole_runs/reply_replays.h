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

/// Of the run whose replies are put through the model once more.
struct ReplaySetting {
  const policy::Choice& policy;
  const plan::Plan& plan;
  std::int32_t topK = 0;
  float topP = 1;
  bool hasRoom = false;     ///< the warm session's pool holds any prompt
  bool isRecorded = false;  ///< the attention of all rows, layers and heads was recorded
};

/// Put through the model once more, the replies of a run were drawn from the same numbers and looked at the
/// same tokens as in the run, warm and cold; and what can be found is still found.
Differences checkReplays(AfterRun warm, AfterRun cold, const ReplaySetting& setting);

}  // namespace spanscope::test
