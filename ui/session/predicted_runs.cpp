// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/predicted_runs.h"

#include "engine/trace/predicted.h"

namespace spanscope::ui {

bool isPredicted(const TraceStore& trace) {
  return trace::isPredicted(trace.newest().progress().program);
}

bool isPredicted(const RunRecord& record) {
  if (record.metricValues) return trace::isPredicted(record.metricValues->program);
  return record.trace != nullptr && isPredicted(*record.trace);
}

bool isPredicted(const ListedRun& run) {
  return trace::isPredicted(run.progress->program);
}

bool hasOrder(const TraceStore& trace) {
  return !isPredicted(trace) || trace.newest().progress().program.starts_with("vLLM ");
}

ReportedFacts PredictedSource::predictedReports() {
  ReportedFacts reports;
  for (const Fact fact : {Fact::TokenTimes, Fact::Passes, Fact::Attention, Fact::StepTimes})
    reports.set(fact, Reporting::CannotBeReported);
  return reports;
}

}  // namespace spanscope::ui
