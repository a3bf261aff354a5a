// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that a cache simulator predicted (engine/simulator). A predicted run shows what a server's cache would
// do with queries. The window lists predicted runs like other runs, so that the same views can draw all runs.
// No value of a predicted run was measured.
#pragma once

#include "ui/session/run_list.h"
#include "ui/session/trace_source.h"

#include <memory>
#include <utility>

namespace spanscope::ui {

/// Whether a cache simulator made the trace, or the run.
bool isPredicted(const TraceStore& trace);
bool isPredicted(const RunRecord& record);
bool isPredicted(const ListedRun& run);

/// Whether free blocks are allocated in the order of the trace. False for cache simulators that number their
/// blocks themselves.
bool hasOrder(const TraceStore& trace);

/// The trace of a cache simulator, without times. Jobs cannot compute anything for such a trace.
class PredictedSource final : public TraceSource {
 public:
  explicit PredictedSource(std::shared_ptr<const TraceStore> trace) : m_trace(std::move(trace)) {}
  TraceOrigin origin() const override { return TraceOrigin::Server; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }
  ReportedFacts reports() const override { return predictedReports(); }

  static ReportedFacts predictedReports();

 private:
  std::shared_ptr<const TraceStore> m_trace;
};

}  // namespace spanscope::ui
