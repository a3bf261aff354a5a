// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/scrubber/range_totals.h"

#include "ui/session/token_account.h"
#include "ui/views/common/number_text.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QStringList>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

/// One request in a range.
struct RangedRequest {
  RequestAccount account;
  const trace::RequestState* state = nullptr;
  bool isToldAgain = false;  ///< an event says which tokens were computed again
  std::set<std::pair<std::uint32_t, std::int32_t>> lookedUp;  ///< virtual blocks, up to the event in view
};

/// Adds up what the events of a range tell.
class RangeSum {
 public:
  RangeSum(const TraceStore& trace, const EventRange& range) : m_trace(trace), m_range(range) {}

  RangeTotals totals() {
    m_totals.range = m_range;
    const std::size_t before = m_range.begin == 0 ? 0 : m_range.begin - 1;
    m_totals.nanoseconds = m_trace.event(m_range.end - 1).time - m_trace.event(before).time;
    for (std::size_t index = m_range.begin; index < m_range.end; ++index) take(index);
    m_totals.requests = std::ssize(m_requests);
    return m_totals;
  }

 private:
  void take(std::size_t index) {
    const trace::Event& event = m_trace.event(index);
    if (std::holds_alternative<trace::BlockAllocated>(event.payload)) ++m_totals.allocated;
    if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload))
      m_totals.evicted += removed->reason == trace::RemovalReason::Evicted ? 1 : 0;
    if (const auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
      for (const trace::BatchEntry& entry : pass->entries) {
        RangedRequest* request = requestOf(entry.request);
        if (request == nullptr || entry.decode || entry.repeated) continue;
        const TokenAccount own =
            visible(*request, entry.segment, entry.begin, std::int64_t{entry.begin} + entry.count);
        m_totals.tokens.computed += own.computed;
        // What was found itself is told when the policy has chosen it.
        if (!request->isToldAgain) m_totals.tokens.again += own.again;
      }
      return;
    }
    RangedRequest* request = requestOf(event.request);
    if (request == nullptr) return;
    if (std::holds_alternative<trace::TokenGenerated>(event.payload)) ++m_totals.generated;
    if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload)) {
      takeLookup(*request, *lookup);
    } else if (std::holds_alternative<trace::TokensRecomputed>(event.payload)) {
      takeAgain(*request, index, event.request);
    } else if (std::holds_alternative<trace::LayoutApplied>(event.payload)) {
      const TokenAccount prompt = request->account.prompt();
      m_totals.tokens.padded += prompt.padded;
      m_totals.tokens.cropped += prompt.cropped;
    } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload)) {
      // Of some requests no more is known than their sums.
      if (request->state->segments.empty() && !admitted->resumed)
        m_totals.tokens += toldAccount(*request->state).prompt;
    } else if (std::holds_alternative<trace::StepMetrics>(event.payload)) {
      if (request->state->segments.empty() && request->state->admittedAt < 0)
        m_totals.tokens += toldAccount(*request->state).prompt;
    }
  }

  void takeLookup(RangedRequest& request, const trace::BlockLookedUp& lookup) {
    if (!request.lookedUp.emplace(lookup.segment, lookup.virtualIndex).second || lookup.tokens <= 0) return;
    const FoundTokens found = foundTokens(lookup, std::max(1, m_trace.newest().pool().blockSize()));
    const TokenAccount own = visible(request, lookup.segment, found.begin, found.begin + found.count);
    m_totals.tokens.hit += own.hit;
    m_totals.tokens.relocated += own.relocated;
  }

  /// The last of these events counts.
  void takeAgain(const RangedRequest& request, std::size_t index, RequestId id) {
    const RequestEvents* events = m_trace.request(id);
    if (events == nullptr || events->of<trace::TokensRecomputed>().back() != index) return;
    m_totals.tokens.again += request.account.prompt().again;
  }

  /// The tokens that stand in the prompt among [begin, end) of a segment.
  static TokenAccount visible(const RangedRequest& request, std::uint32_t segment, std::int64_t begin,
                              std::int64_t end) {
    const auto& segments = request.state->segments;
    if (segment >= segments.size() || segments[segment].hidden) return {};
    begin = std::max<std::int64_t>(begin, segments[segment].visibleBegin);
    end = std::min(end, static_cast<std::int64_t>(segments[segment].tokens.size()));
    return begin < end ? request.account.of(segment, begin, end) : TokenAccount();
  }

  /// nullptr: none, or the replay of one that was counted.
  RangedRequest* requestOf(RequestId id) {
    if (id == 0) return nullptr;
    const auto known = m_requests.find(id);
    if (known != m_requests.end()) return &known->second;
    const RequestEvents* events = m_trace.request(id);
    const auto& states = m_trace.newest().progress().requests;
    const auto state = states.find(id);
    if (events == nullptr || events->run == 0 || state == states.end()) return nullptr;
    RangedRequest& request =
        m_requests
            .emplace(id, RangedRequest{.account = RequestAccount(m_trace, m_trace.size(), id),
                                       .state = &state->second,
                                       .isToldAgain = !events->of<trace::TokensRecomputed>().empty(),
                                       .lookedUp = {}})
            .first->second;
    for (const std::size_t index : events->of<trace::BlockLookedUp>()) {
      if (index >= m_range.begin) break;
      const auto* lookup = std::get_if<trace::BlockLookedUp>(&m_trace.event(index).payload);
      if (lookup != nullptr) request.lookedUp.emplace(lookup->segment, lookup->virtualIndex);
    }
    return &request;
  }

  const TraceStore& m_trace;
  EventRange m_range;
  RangeTotals m_totals;
  std::map<RequestId, RangedRequest> m_requests;
};

QString counted(std::int64_t count, const QString& one, const QString& many) {
  return count == 1 ? one : many.arg(count);
}

}  // namespace

RangeTotals rangeTotals(const TraceStore& trace, const EventRange& range) {
  if (range.isEmpty()) return {.range = range, .tokens = {}};
  return RangeSum(trace, range).totals();
}

QString rangeText(const RangeTotals& totals) {
  const std::size_t first = totals.range.begin + 1;
  const trace::TokenAccount& tokens = totals.tokens;
  const auto of = [&tokens](std::string_view id) {
    return metricPhrase(id, static_cast<double>(metrics::get(id).ofTokens(tokens)));
  };
  const QStringList parts{
      totals.range.end == first ? tr("event %1").arg(first)
                                : tr("events %1 to %2").arg(first).arg(totals.range.end),
      durationText(static_cast<double>(totals.nanoseconds) * 1e-9),
      counted(totals.requests, tr("1 request"), tr("%1 requests")),
      tr("tokens: %1")
          .arg(QStringList{of("computed-tokens"), of("hit-tokens"), of("relocated-tokens"),
                           of("tokens-computed-again"),
                           metricPhrase("generated-tokens", static_cast<double>(totals.generated))}
                   .join(tr(", "))),
      tr("blocks: %1 allocated, %2 evicted").arg(totals.allocated).arg(totals.evicted)};
  QStringList layout = accountWords({.padded = tokens.padded, .cropped = tokens.cropped});
  return (parts + layout).join(tr(" · "));
}

}  // namespace spanscope::ui
