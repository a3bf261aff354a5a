// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/token_account.h"

#include "ui/words/metric_words.h"

#include <algorithm>
#include <variant>

namespace spanscope::ui {

QStringList accountWords(const TokenAccount& account) {
  return metricPhrases({"tokens-computed-again", "padding-tokens", "delimiter-tokens", "cropped-tokens"},
                       metrics::Totals{.account = PromptAccount{.prompt = account}});
}

RequestAccount::RequestAccount(const ViewInput& input, RequestId request)
    : RequestAccount(*input.trace, input.position, request) {}

RequestAccount::RequestAccount(const TraceStore& trace, std::size_t position, RequestId request)
    : m_trace(trace), m_position(position), m_id(request) {
  const trace::Replay& state = trace.stateAt(position);
  const auto found = state.progress().requests.find(request);
  if (found == state.progress().requests.end()) return;
  m_request = &found->second;
  m_tokens.takeTable(m_request->segments);
  const RequestEvents* events = trace.request(request);
  if (events == nullptr) return;
  const std::int64_t blockSize = std::max(1, state.pool().blockSize());
  for (const std::size_t index : events->of<trace::BlockLookedUp>()) {
    if (index >= position) break;
    const auto* lookup = std::get_if<trace::BlockLookedUp>(&trace.event(index).payload);
    if (lookup != nullptr) m_tokens.take(*lookup, blockSize);
  }
  for (const std::size_t index : events->of<trace::TokensRecomputed>()) {
    if (index >= position) break;
    const auto* reported = std::get_if<trace::TokensRecomputed>(&trace.event(index).payload);
    if (reported != nullptr) m_tokens.take(*reported);
  }
  for (const std::size_t index : events->of<trace::LayoutApplied>()) {
    if (index >= position) break;
    const auto* applied = std::get_if<trace::LayoutApplied>(&trace.event(index).payload);
    if (applied != nullptr) m_tokens.take(*applied);
  }
  const bool endedWell = m_request->outcome && *m_request->outcome != trace::StepOutcome::Stopped &&
                         *m_request->outcome != trace::StepOutcome::Failed;
  if (m_request->generatedTokens > 0 || endedWell) m_tokens.setRead();
}

/// Most of these requests have read their prompts, so forward passes are read only if necessary.
void RequestAccount::readPasses() {
  if (m_hasPasses || m_tokens.isRead()) return;
  m_hasPasses = true;
  const RequestEvents* events = m_trace.request(m_id);
  if (events == nullptr) return;
  for (const std::size_t index : events->of<trace::BatchComputed>()) {
    if (index >= m_position) break;
    const auto* pass = std::get_if<trace::BatchComputed>(&m_trace.event(index).payload);
    if (pass == nullptr) continue;
    for (const trace::BatchEntry& entry : pass->entries) {
      if (entry.request == m_id) m_tokens.take(entry);
    }
  }
}

TokenAccount RequestAccount::of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const {
  return m_request == nullptr ? TokenAccount() : m_tokens.of(segment, begin, end);
}

TokenAccount RequestAccount::prompt() const {
  if (m_request == nullptr || (m_request->admittedAt < 0 && !m_request->metrics)) return {};
  if (m_request->segments.empty()) return reportedAccount(*m_request).prompt;
  return m_request->admittedAt < 0 ? TokenAccount() : m_tokens.prompt(m_request->segments);
}

std::int64_t RequestAccount::beside() const {
  if (m_request == nullptr || m_request->segments.empty()) return 0;
  return m_tokens.account(m_request->segments, m_request->promptTokens).beside;
}

PromptAccount RequestAccount::done() {
  if (m_request == nullptr || m_request->segments.empty() || m_request->admittedAt < 0)
    return {.prompt = prompt()};
  readPasses();
  return m_tokens.account(m_request->segments, m_request->promptTokens);
}

std::int64_t RequestAccount::unread(std::uint32_t segment, std::int64_t begin, std::int64_t end) {
  readPasses();
  return m_tokens.unread(segment, begin, end);
}

PromptAccount reportedAccount(const trace::RequestState& request) {
  // Without reported cached tokens there is no account.
  if (request.reported && !request.reported->isCachedKnown()) return {};
  return accountOf(request.metrics ? metrics::admittedBy(*request.metrics)
                                   : trace::RequestAdmitted{.promptTokens = request.promptTokens,
                                                            .cachedTokens = request.cachedTokens,
                                                            .relocatedTokens = request.relocatedTokens});
}

}  // namespace spanscope::ui
