// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/jobs/job.h"
#include "ui/session/trace_store.h"
#include "ui/session/view_input.h"

#include <cstddef>
#include <memory>
#include <optional>

namespace spanscope::ui {

/// Returns the result of a job, a Result of its kind. Null: there is no result, or the result in a file
/// cannot be shown.
std::shared_ptr<const void> readResult(const TraceStore& trace, const trace::JobEnded& job);

/// Returns the result of the newest job of a kind with these arguments, among the first `count` events.
/// `Kind` is a kind of engine/jobs. Null: there is no such job, it did not finish, or its result in a file
/// cannot be shown.
template <class Kind>
std::shared_ptr<const typename Kind::Result> jobResult(const TraceStore& trace, std::size_t count,
                                                       const typename Kind::Arguments& arguments) {
  using Result = typename Kind::Result;
  const trace::JobEnded* job = trace.lastJob(Kind::kId, trace::pack(arguments), count);
  if (job == nullptr || job->outcome != trace::JobOutcome::Finished) return nullptr;
  return std::static_pointer_cast<const Result>(readResult(trace, *job));
}

/// Does the same among the results that the input shows.
template <class Kind>
std::shared_ptr<const typename Kind::Result> jobResult(const ViewInput& input,
                                                       const typename Kind::Arguments& arguments) {
  return jobResult<Kind>(*input.trace, input.replay.results, arguments);
}

/// The arguments that the user chose for the next job of a kind; nothing: none.
template <class Kind>
std::optional<typename Kind::Arguments> chosen(const MeasuredJobs& jobs) {
  const auto found = jobs.find(Kind::kId);
  return found == jobs.end() ? std::nullopt : trace::unpack<typename Kind::Arguments>(found->second.chosen);
}

}  // namespace spanscope::ui
