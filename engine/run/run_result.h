// SPDX-License-Identifier: GPL-3.0-or-later
// What came of a run.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <optional>
#include <string>
#include <vector>

namespace spanscope::run {

struct StepResult {
  StepIndex step = 0;
  RequestId request = 0;
  trace::StepOutcome outcome = trace::StepOutcome::EndToken;
  std::vector<TokenId> tokens;  ///< sampled ids, the end token included if one was
  std::string text;             ///< the answer without what the chat template adds
  trace::StepMetrics metrics;
};

struct RunResult {
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;     ///< where outcome is Failed
  std::vector<StepResult> steps;  ///< those that ended, by step
  std::string answer;             ///< text of the result items, joined by newlines
  double seconds = 0;
};

}  // namespace spanscope::run
