// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/served_requests.h"

#include "engine/trace/memory_bytes.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::server {
namespace {

constexpr TokenId kNoToken = -1;

void hide(std::vector<TokenId>& tokens) {
  std::fill(tokens.begin(), tokens.end(), kNoToken);
}
void hide(std::vector<std::string>& texts) {
  for (std::string& text : texts) text.clear();
}

/// Events without texts have nothing to hide.
template <class Payload>
void hideTexts(Payload& /*payload*/) {}

void hideTexts(trace::RunStarted& started) {
  started.queryJson.clear();
}
void hideTexts(trace::RunFinished& finished) {
  finished.answer.clear();
}
void hideTexts(trace::PlanMade& plan) {
  plan.explain.clear();
}
void hideTexts(trace::StepFinished& step) {
  step.text.clear();
}
void hideTexts(trace::SpanTableLaidOut& laidOut) {
  std::vector<trace::SegmentInfo> segments(laidOut.segments.begin(), laidOut.segments.end());
  for (trace::SegmentInfo& segment : segments) {
    hide(segment.tokens);
    hide(segment.texts);
  }
  laidOut.segments = std::move(segments);
}
void hideTexts(trace::BlockLookedUp& lookup) {
  lookup.tokenWanted = kNoToken;
  lookup.tokenStored = kNoToken;
}
void hideTexts(trace::BlockStored& stored) {
  hide(stored.tokens);
}
void hideTexts(trace::TokenGenerated& token) {
  token.token = kNoToken;
  token.text.clear();
  token.shown.clear();
}
void hideTexts(trace::FragmentsRetrieved& found) {
  found.question.clear();
  for (trace::FragmentInfo& fragment : found.fragments) fragment.text.clear();
}
void hideTexts(trace::FidelityMeasured& measured) {
  measured.fullText.clear();
  hide(measured.fullAnswer);
  for (trace::FidelityToken& token : measured.tokens)
    token.token = token.policyBest = token.fullBest = kNoToken;
}
void hideTexts(trace::TokenAlternatives& told) {
  for (trace::TokenAlternative& one : told.tokens) {
    one.token = kNoToken;
    one.shown.clear();
  }
}
void hideTexts(trace::JobEnded& ended) {
  ended.problem.clear();
  ended.result = {};
}
void hideTexts(trace::LayoutApplied& applied) {
  for (trace::CroppedRun& cropped : applied.cropped) {
    hide(cropped.tokens);
    hide(cropped.texts);
  }
}
void hideTexts(trace::StoreTextsReported& reported) {
  for (trace::PackText& pack : reported.packs) pack.text.clear();
}
void hideTexts(trace::SessionStarted& started) {
  for (trace::BlockState& block : started.pool.blocks) hide(block.tokens);
}
void hideTexts(trace::Snapshot& snapshot) {
  for (trace::BlockState& block : snapshot.pool.blocks) hide(block.tokens);
}
/// Messages about a request may quote it.
void hideTexts(trace::MessageLogged& message) {
  message.text.clear();
}

}  // namespace

trace::Event withoutTexts(trace::Event event) {
  std::visit([](auto& payload) { hideTexts(payload); }, event.payload);
  return event;
}

std::uint64_t ServedRequests::add(ServedRequest request) {
  const std::lock_guard lock(m_mutex);
  request.number = ++m_last;
  if (!m_keepsTexts) request.queryJson.clear();
  if (m_listener != nullptr) m_listener->onRequest(request);
  const std::uint64_t bytes = request.queryJson.size();
  m_bytes += bytes;
  m_requests.push_back({.request = std::move(request), .bytes = bytes});
  makeRoom();
  return m_last;
}

ServedRequests::Kept* ServedRequests::kept(std::uint64_t number) {
  const auto found =
      std::lower_bound(m_requests.begin(), m_requests.end(), number,
                       [](const Kept& kept, std::uint64_t wanted) { return kept.request.number < wanted; });
  return found != m_requests.end() && found->request.number == number ? &*found : nullptr;
}

void ServedRequests::take(std::uint64_t number, const trace::Event& event) {
  trace::Event own = m_keepsTexts ? event : withoutTexts(event);
  const std::uint64_t bytes = trace::memoryBytes(own);
  const std::lock_guard lock(m_mutex);
  if (m_listener != nullptr) m_listener->onEvent(number, own);
  Kept* const request = kept(number);
  if (request == nullptr) return;
  request->request.run = own.run;
  if (request->request.isCut || request->bytes + bytes > m_limits.eventBytes) {
    request->request.isCut = true;
    return;
  }
  request->bytes += bytes;
  m_bytes += bytes;
  request->request.events.push_back(std::move(own));
  makeRoom();
}

void ServedRequests::end(std::uint64_t number, RequestState state, std::string problem) {
  const std::lock_guard lock(m_mutex);
  // The problem may quote the request.
  if (!m_keepsTexts) problem.clear();
  if (m_listener != nullptr) m_listener->onEnd(number, state, problem);
  if (Kept* const request = kept(number)) {
    request->request.state = state;
    request->request.problem = std::move(problem);
  }
  makeRoom();
}

/// The mutex must be locked. The limits of the server bound the number of requests in progress.
void ServedRequests::makeRoom() {
  while (m_requests.size() > m_limits.requests || m_bytes > m_limits.allBytes) {
    const auto oldest = std::find_if(m_requests.begin(), m_requests.end(), [](const Kept& kept) {
      return kept.request.state != RequestState::Running;
    });
    if (oldest == m_requests.end()) return;
    m_bytes -= oldest->bytes;
    m_requests.erase(oldest);
  }
}

std::vector<ServedRequest> ServedRequests::list() const {
  const std::lock_guard lock(m_mutex);
  std::vector<ServedRequest> requests;
  for (const Kept& kept : m_requests) {
    const ServedRequest& own = kept.request;
    requests.push_back({.number = own.number,
                        .id = own.id,
                        .endpoint = own.endpoint,
                        .model = own.model,
                        .client = own.client,
                        .time = own.time,
                        .queryJson = own.queryJson,
                        .run = own.run,
                        .state = own.state,
                        .problem = own.problem,
                        .events = {},
                        .isCut = own.isCut});
  }
  return requests;
}

ServedRequest ServedRequests::find(std::uint64_t number) const {
  const std::lock_guard lock(m_mutex);
  for (const Kept& kept : m_requests) {
    if (kept.request.number == number) return kept.request;
  }
  ServedRequest none;
  none.number = number;
  return none;
}

void ServedRequests::setListener(ServedListener* listener) {
  const std::lock_guard lock(m_mutex);
  m_listener = listener;
}

}  // namespace spanscope::server
