// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that a cache simulator predicted (engine/simulator): they show what a server's cache would do with
// queries. The window lists them like other runs, so that the same views draw them. Nothing in them was
// measured.
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

/// Whether free blocks are taken in the order in which the trace has them. This is not so for cache
/// simulators that number their blocks themselves.
bool hasOrder(const TraceStore& trace);

/// The trace of a cache simulator. It has no times. Jobs cannot compute anything for it.
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
