// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/measured_jobs.h"

#include "engine/jobs/job.h"
#include "ui/session/answer_jobs.h"
#include "ui/session/job_results.h"
#include "ui/session/trace_store.h"

#include <cstddef>
#include <variant>
#include <vector>

namespace spanscope::ui {
namespace {

workbench::JobState stateOf(trace::JobOutcome outcome) {
  switch (outcome) {
    case trace::JobOutcome::Finished:
      break;
    case trace::JobOutcome::Stopped:
      return workbench::JobState::Stopped;
    case trace::JobOutcome::Failed:
      return workbench::JobState::Failed;
  }
  return workbench::JobState::Finished;
}

MeasuredJob measuredBy(const TraceStore& trace, const trace::JobEnded& ended) {
  return {.state = stateOf(ended.outcome),
          .problem = jobText(ended.problem.c_str()),
          .result = readResult(trace, ended)};
}

}  // namespace

std::shared_ptr<const void> readResult(const TraceStore& trace, const trace::JobEnded& job) {
  auto& [packed, result] = trace.jobResultMemo(job.kind);
  if (!result || !packed.bytes.isCopyOf(job.result.bytes)) {
    const jobs::JobRow* row = jobs::findJob(job.kind);
    const std::shared_ptr<const void> read = row == nullptr ? nullptr : row->readResult(job.result);
    if (!read) return nullptr;
    packed = job.result;
    result = read;
  }
  return result;
}

MeasuredJobs measuredJobs(const AskedJobs& asked, const TraceStore& trace) {
  MeasuredJobs jobs;
  for (const auto& [kind, each] : asked) {
    const trace::JobEnded* ended =
        each.job.isRunning() ? nullptr : trace.lastJob(kind, each.call.arguments, trace.size());
    // No trace has a job that was stopped before it began.
    jobs[kind] = ended == nullptr ? each.job : measuredBy(trace, *ended);
    // The result of a job that failed early cannot be read from the trace, but its problem must be shown.
    if (jobs[kind].result == nullptr) jobs[kind].result = each.job.result;
  }
  return jobs;
}

MeasuredJobs measuredJobs(const TraceStore& trace) {
  MeasuredJobs jobs;
  const std::vector<std::size_t>& all = trace.indicesOf<trace::JobEnded>();
  for (auto index = all.rbegin(); index != all.rend(); ++index) {
    const auto& ended = std::get<trace::JobEnded>(trace.event(*index).payload);
    const jobs::JobRow* row = jobs::findJob(ended.kind);
    if (row == nullptr || row->scope == jobs::Scope::Answer || jobs.contains(ended.kind)) continue;
    jobs[ended.kind] = measuredBy(trace, ended);
  }
  return jobs;
}

const MeasuredJob* findMeasured(const MeasuredJobs& jobs, const char* kind) {
  const auto found = jobs.find(kind);
  return found == jobs.end() || found->second.result == nullptr ? nullptr : &found->second;
}

}  // namespace spanscope::ui
