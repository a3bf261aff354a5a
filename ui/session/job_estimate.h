// SPDX-License-Identifier: GPL-3.0-or-later
// How long a job would take that has not started yet, and how long the rest of one takes.
#pragma once

#include "engine/experiment/token_amount.h"
#include "engine/jobs/job_call.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

struct ViewInput;

/// The estimate of a job that a view asked for, because the engine has to count.
struct AskedEstimate {
  enum class State : std::uint8_t {
    Waits,      ///< for other jobs of the engine
    NotLoaded,  ///< the model is not loaded, so that tokens cannot be counted
    Counted,
    Unknown,  ///< it cannot be counted
  };
  jobs::JobCall call;
  State state = State::Waits;
  /// Nothing: the pace of the model is not known.
  std::optional<experiment::SecondsRange> seconds{};
};

/// "about 40 s", "20 s to 1 min"
QString shownDuration(const experiment::SecondsRange& seconds);
/// A sentence; empty if nothing is known yet.
QString estimateText(const AskedEstimate& estimate);
/// The same of a job that can be estimated without the engine.
QString estimateText(const ViewInput& input, const jobs::JobCall& call);

/// "about 40 s left: Benchmark: turn 2 of 7"; `doing` alone if the rest is not known.
QString withTimeLeft(const std::optional<double>& secondsLeft, const QString& doing);

}  // namespace spanscope::ui
