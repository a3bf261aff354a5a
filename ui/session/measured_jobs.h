// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs that measure in their own sessions (engine/jobs/measuring_job.h), for views.
#pragma once

#include "engine/jobs/job_call.h"
#include "engine/workbench/service/job.h"

#include <QString>

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::ui {

struct AskedEstimate;
class TraceStore;

/// The newest job of a kind, and the next one.
struct MeasuredJob {
  workbench::JobState state = workbench::JobState::Waiting;
  QString problem{};                     ///< why the job failed; empty: no failure
  std::optional<double> secondsLeft{};   ///< nothing: not known, or the job has ended
  std::shared_ptr<const void> result{};  ///< the Result type of the kind, so far; null: nothing to show.
  /// The arguments that the user chose for the next job. Empty: the user chose none.
  trace::PackedValue chosen{};
  /// The estimated time of the next job that a view named. Null: the view has to request an estimate.
  std::shared_ptr<const AskedEstimate> estimate{};
  bool operator==(const MeasuredJob&) const = default;

  bool isRunning() const { return !workbench::hasEnded(state); }
};

/// The newest job of each kind.
using MeasuredJobs = std::map<std::string, MeasuredJob>;

/// The newest job of a kind that a tab or the program has requested.
struct AskedJob {
  jobs::JobCall call;
  MeasuredJob job;
};
using AskedJobs = std::map<std::string, AskedJob>;

/// The requested jobs, for views. If a job has ended, its result comes from the trace.
MeasuredJobs measuredJobs(const AskedJobs& asked, const TraceStore& trace);
/// The newest ended job of each kind in a trace.
MeasuredJobs measuredJobs(const TraceStore& trace);

/// Returns nullptr if there is no job of this kind with a result.
const MeasuredJob* findMeasured(const MeasuredJobs& jobs, const char* kind);

/// The Result of the newest job of a kind; null if there is nothing to show.
template <class Kind>
std::shared_ptr<const typename Kind::Result> measured(const MeasuredJobs& jobs) {
  const MeasuredJob* job = findMeasured(jobs, Kind::kId);
  return job == nullptr ? nullptr : std::static_pointer_cast<const typename Kind::Result>(job->result);
}

}  // namespace spanscope::ui
