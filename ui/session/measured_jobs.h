// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs that measure in sessions of their own (engine/jobs/measuring_job.h), as views see them.
#pragma once

#include "engine/jobs/job_call.h"
#include "engine/workbench/service/job.h"

#include <QString>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::ui {

class TraceStore;

/// The newest job of a kind.
struct MeasuredJob {
  workbench::JobState state = workbench::JobState::Waiting;
  QString problem{};                     ///< why it failed; empty: it did not
  std::optional<double> secondsLeft{};   ///< nothing: not known, or it has ended
  std::shared_ptr<const void> result{};  ///< the kind's Result so far; null: it cannot be shown
  bool operator==(const MeasuredJob&) const = default;

  bool isRunning() const { return !workbench::hasEnded(state); }
};

/// By kind.
using MeasuredJobs = std::map<std::string, MeasuredJob>;

/// The newest job of a kind that a tab or the program asked for.
struct AskedJob {
  jobs::JobCall call;
  MeasuredJob job;
};
using AskedJobs = std::map<std::string, AskedJob>;

/// Jobs that were asked for, as views show them. The result of a job that has ended is read from the trace.
MeasuredJobs measuredJobs(const AskedJobs& asked, const TraceStore& trace);
/// The newest of each kind in a trace.
MeasuredJobs measuredJobs(const TraceStore& trace);

/// nullptr: there is no job of this kind that can be shown.
const MeasuredJob* findMeasured(const MeasuredJobs& jobs, const char* kind);

/// The Result of the newest job of a kind; null: there is none that can be shown.
template <class Kind>
std::shared_ptr<const typename Kind::Result> measured(const MeasuredJobs& jobs) {
  const MeasuredJob* job = findMeasured(jobs, Kind::kId);
  return job == nullptr ? nullptr : std::static_pointer_cast<const typename Kind::Result>(job->result);
}

}  // namespace spanscope::ui
