// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that a twin has told (engine/twin): what a server's cache would do with queries. They stand among the
// runs of the window so that the same views draw them, but nothing in them was measured.
#pragma once

#include "ui/session/run_list.h"
#include "ui/session/trace_source.h"

#include <memory>
#include <utility>

namespace spanscope::ui {

/// Whether a twin has told the trace, or the run.
bool isForetold(const TraceStore& trace);
bool isForetold(const RunRecord& record);
bool isForetold(const ListedRun& run);

/// Whether free blocks are taken in the order in which the trace has them: not in what twins have told that
/// number their blocks themselves.
bool tellsOrder(const TraceStore& trace);

/// What a twin has told. Nothing of it can be computed, and there are no times in it.
class ForetoldSource final : public TraceSource {
 public:
  explicit ForetoldSource(std::shared_ptr<const TraceStore> trace) : m_trace(std::move(trace)) {}
  TraceOrigin origin() const override { return TraceOrigin::Server; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }
  ReportedFacts reports() const override { return foretoldReports(); }

  static ReportedFacts foretoldReports();

 private:
  std::shared_ptr<const TraceStore> m_trace;
};

}  // namespace spanscope::ui
