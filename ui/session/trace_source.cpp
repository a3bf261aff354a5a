// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/trace_source.h"

#include "ui/session/predicted_runs.h"
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

ReportedFacts ServerSource::reports() const {
  ReportedFacts reports;
  for (const Fact fact : {Fact::Prompts, Fact::TokenTexts, Fact::BlockLookups, Fact::Pool, Fact::TokenTimes,
                          Fact::Passes, Fact::Attention})
    reports.set(fact, Reporting::CannotBeReported);
  bool isAsked = false;
  bool isReported = false;
  for (const auto& [id, request] : m_trace->newest().progress().requests) {
    isAsked = isAsked || request.reported;
    isReported = isReported || request.metrics;
  }
  if (isAsked && !isReported) reports.set(Fact::CachedTokens, Reporting::NotReported);
  return reports;
}

bool isOfServers(const TraceStore& trace) {
  return !trace.indicesOf<trace::ServerChosen>().empty();
}

std::shared_ptr<const TraceSource> endedSource(const std::shared_ptr<const TraceStore>& trace) {
  if (isPredicted(*trace)) return std::make_shared<const PredictedSource>(trace);
  if (isOfServers(*trace)) return std::make_shared<const ServerSource>(trace);
  return std::make_shared<const EndedSource>(trace);
}

FileSource::FileSource(std::shared_ptr<const TraceStore> trace, const QString& title)
    : m_trace(std::move(trace)),
      m_records(std::make_shared<const RunRecords>(recordsOf(m_trace, title))),
      m_reports(isPredicted(*m_trace) ? PredictedSource::predictedReports()
                                      : reportedBy(*m_trace, Reporting::CannotBeReported)) {}

}  // namespace spanscope::ui
