// SPDX-License-Identifier: GPL-3.0-or-later
// The result of a run.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::run {

struct StepResult {
  StepIndex step = 0;
  RequestId request = 0;
  trace::StepOutcome outcome = trace::StepOutcome::EndToken;
  std::vector<TokenId> tokens;  ///< sampled ids, with the end token if one was sampled
  std::string text;             ///< the answer, without what the chat template adds
  trace::StepMetrics metrics;
};

/// A prompt that does not fit the model's context.
struct TooLongPrompt {
  std::int64_t tokens = 0;  ///< of the prompt
  std::int64_t most = 0;    ///< that it could have
  bool isAtLeast = false;   ///< it has more than `tokens`; the rest was not counted
  bool operator==(const TooLongPrompt&) const = default;
};

struct RunResult {
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;              ///< set if outcome is Failed
  std::optional<TooLongPrompt> tooLong{};  ///< set if `error` says that a prompt is too long
  std::vector<StepResult> steps;           ///< steps that have ended, ascending
  std::string answer;                      ///< text of the result items, joined by newlines
  double seconds = 0;
};

}  // namespace spanscope::run
