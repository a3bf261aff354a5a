// SPDX-License-Identifier: GPL-3.0-or-later
// Texts about durations: of a job that has not started yet, and of the rest of a running job.
#pragma once

#include "engine/experiment/token_amount.h"
#include "engine/jobs/job_call.h"
#include "ui/session/measured_jobs.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

struct ViewInput;

/// The estimate that a view requested for a job whose tokens the engine has to count.
struct AskedEstimate {
  enum class State : std::uint8_t {
    Waits,      ///< the estimate waits for other jobs of the engine
    NotLoaded,  ///< the model is not loaded, so that tokens cannot be counted
    Counted,
    Unknown,  ///< the tokens cannot be counted
  };
  jobs::JobCall call;
  State state = State::Waits;
  /// Nothing: the speed of the model is not known.
  std::optional<experiment::SecondsRange> seconds{};
};

/// "about 40 s", "20 s to 1 min"
QString shownDuration(const experiment::SecondsRange& seconds);
/// The estimate as a sentence; empty: not known yet.
QString estimateText(const AskedEstimate& estimate);
/// The newest estimate for this kind of job. Null: a view has to request an estimate for these arguments.
const AskedEstimate* findEstimate(const MeasuredJobs& jobs, const jobs::JobCall& call);
/// The estimate of a job that can be estimated without the engine, as a sentence.
QString estimateText(const ViewInput& input, const jobs::JobCall& call);

/// "about 40 s left: Benchmark: turn 2 of 7"; `doing` alone if the rest is not known.
QString withTimeLeft(const std::optional<double>& secondsLeft, const QString& doing);

}  // namespace spanscope::ui
