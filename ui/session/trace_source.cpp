// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/trace_source.h"

#include "ui/session/run_history.h"

#include <algorithm>
#include <utility>

namespace spanscope::ui {

std::size_t LiveSource::keepNewest(std::uint64_t bytes) {
  const std::size_t before = m_store->size();
  m_store = std::make_shared<TraceStore>(m_store->newestPart(bytes));
  return before - std::min(before, m_store->size());
}

EndedSource::EndedSource(std::shared_ptr<const TraceStore> trace)
    : m_trace(std::move(trace)), m_reports(reportedBy(*m_trace, Reporting::NotReported)) {}

FileSource::FileSource(std::shared_ptr<const TraceStore> trace, const QString& title)
    : m_trace(std::move(trace)),
      m_records(std::make_shared<const RunRecords>(recordsOf(m_trace, title))),
      m_reports(reportedBy(*m_trace, Reporting::CannotBeReported)) {}

}  // namespace spanscope::ui
