// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/trace_source.h"

#include "engine/trace/event.h"
#include "engine/workbench/settings.h"
#include "ui/session/run_list.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::ui {

namespace {

template <class... Payloads>
bool isOneOf(const trace::Payload& payload) {
  return (std::holds_alternative<Payloads>(payload) || ...);
}

bool tellsTexts(const trace::Payload& payload) {
  if (const auto* token = std::get_if<trace::TokenGenerated>(&payload)) return !token->shown.empty();
  const auto* table = std::get_if<trace::SpanTableLaidOut>(&payload);
  return table != nullptr &&
         std::any_of(table->segments.begin(), table->segments.end(),
                     [](const trace::SegmentInfo& segment) { return !segment.texts.empty(); });
}

bool tellsPool(const trace::Payload& payload) {
  if (const auto* session = std::get_if<trace::SessionStarted>(&payload))
    return !session->pool.blocks.empty();
  const auto* snapshot = std::get_if<trace::Snapshot>(&payload);
  return snapshot != nullptr && !snapshot->pool.blocks.empty();
}

bool tellsAttention(const trace::Payload& payload) {
  return isOneOf<trace::AttentionMass, trace::SegmentAttention, trace::ReplayedMass>(payload);
}

/// A row of the table of facts.
struct FactRow {
  Fact fact;
  QString name;  ///< in words, within a sentence
  /// Whether an event reports the fact.
  bool (*reports)(const trace::Payload&);
  /// Whether a trace with this event would contain the fact if it were reported.
  bool (*isDue)(const trace::Payload&);
};

/// The rows are in the order of Fact.
std::array<FactRow, kFacts> factTable() {
  using trace::BatchComputed;
  using trace::BlockLookedUp;
  using trace::RequestAdmitted;
  using trace::SpanTableLaidOut;
  using trace::StepFinished;
  using trace::StepMetrics;
  using trace::StepStarted;
  using trace::TokenGenerated;
  const auto anyEvent = [](const trace::Payload&) { return true; };
  return {{
      {Fact::Prompts, tr("the tokens of prompts"), isOneOf<SpanTableLaidOut>,
       isOneOf<StepStarted, RequestAdmitted>},
      {Fact::TokenTexts, tr("the texts of tokens"), tellsTexts, isOneOf<SpanTableLaidOut, TokenGenerated>},
      {Fact::BlockLookups, tr("cache lookups"), isOneOf<BlockLookedUp>,
       isOneOf<SpanTableLaidOut, RequestAdmitted>},
      {Fact::Pool, tr("the pool"), tellsPool, anyEvent},
      {Fact::CachedTokens, metricName("cached-tokens"), isOneOf<RequestAdmitted, StepMetrics>,
       isOneOf<StepFinished>},
      {Fact::TokenTimes, tr("token times"), isOneOf<TokenGenerated>, isOneOf<StepFinished>},
      {Fact::Passes, tr(/*id:passes-rates*/ "forward passes and their rates"), isOneOf<BatchComputed>,
       isOneOf<StepFinished, TokenGenerated>},
      {Fact::Attention, tr("attention"), tellsAttention, isOneOf<TokenGenerated, StepFinished>},
      {Fact::StepTimes, tr("times of steps"), isOneOf<StepStarted>, isOneOf<StepFinished>},
  }};
}

}  // namespace

ReportedFacts reportedBy(const TraceStore& trace, Reporting missing) {
  ReportedFacts reported;
  for (const FactRow& row : factTable()) {
    bool reports = false;
    bool isDue = false;
    for (const trace::Event& event : trace.events()) {
      isDue = isDue || row.isDue(event.payload);
      reports = row.reports(event.payload);
      if (reports) break;
    }
    if (isDue && !reports) reported.set(row.fact, missing);
  }
  return reported;
}

ReportedFacts reportedUnder(const workbench::RunSettings& settings) {
  ReportedFacts reported;
  if (!settings.observe) reported.set(Fact::Attention, Reporting::NotReported);
  return reported;
}

QString unreportedText(const ReportedFacts& reported, const std::vector<Fact>& needs) {
  const auto isMissing = [&reported](Fact fact) { return reported.of(fact) == Reporting::CannotBeReported; };
  // This function is called for every frame, and translating the names takes time.
  if (std::none_of(needs.begin(), needs.end(), isMissing)) return {};
  QStringList names;
  for (const FactRow& row : factTable()) {
    const bool isNeeded = std::find(needs.begin(), needs.end(), row.fact) != needs.end();
    if (isNeeded && isMissing(row.fact)) names += row.name;
  }
  return tr(/*id:not-reported*/ "Not reported by this trace: %1.").arg(names.join(tr(", ")));
}

bool reportsNothing(const ReportedFacts& reported, const std::vector<Fact>& needs) {
  return !needs.empty() && std::all_of(needs.begin(), needs.end(), [&reported](Fact fact) {
    return reported.of(fact) == Reporting::CannotBeReported;
  });
}

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
