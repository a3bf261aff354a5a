// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/foretold_runs.h"

#include "engine/trace/foretold.h"

namespace spanscope::ui {

bool isForetold(const TraceStore& trace) {
  return trace::isForetold(trace.newest().progress().program);
}

bool isForetold(const RunRecord& record) {
  if (record.figures) return trace::isForetold(record.figures->program);
  return record.trace != nullptr && isForetold(*record.trace);
}

bool isForetold(const ListedRun& run) {
  return trace::isForetold(run.progress->program);
}

bool tellsOrder(const TraceStore& trace) {
  return !isForetold(trace) || trace.newest().progress().program.starts_with("vLLM ");
}

ReportedFacts ForetoldSource::foretoldReports() {
  ReportedFacts reports;
  for (const Fact fact : {Fact::TokenTimes, Fact::Passes, Fact::Attention, Fact::StepTimes})
    reports.set(fact, Reporting::CannotBeReported);
  return reports;
}

}  // namespace spanscope::ui
