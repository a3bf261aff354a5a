// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/served_requests.h"

#include "engine/metrics/metric_table.h"
#include "engine/trace/memory_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <variant>

namespace spanscope::server {

namespace {

constexpr TokenId kNoToken = -1;

void hide(std::vector<TokenId>& tokens) {
  std::ranges::fill(tokens, kNoToken);
}
void hide(std::vector<std::string>& texts) {
  for (std::string& text : texts) text.clear();
}

/// Events without texts stay unchanged.
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
void hideTexts(trace::PassagesRetrieved& found) {
  found.question.clear();
  for (trace::PassageInfo& passage : found.passages) passage.text.clear();
}
void hideTexts(trace::FidelityMeasured& measured) {
  measured.fullText.clear();
  hide(measured.fullAnswer);
  for (trace::FidelityToken& token : measured.tokens)
    token.token = token.policyBest = token.fullBest = kNoToken;
}
void hideTexts(trace::TokenAlternatives& reported) {
  for (trace::TokenAlternative& one : reported.tokens) {
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
/// Messages about a request may quote the request.
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
      std::ranges::lower_bound(m_requests, number, {}, [](const Kept& kept) { return kept.request.number; });
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
    const auto oldest = std::ranges::find_if(
        m_requests, [](const Kept& kept) { return kept.request.state != RequestState::Running; });
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

namespace {

/// A value of a label: backslash, quote and line break are escaped.
std::string labelText(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') escaped += '\\';
    if (letter == '\n')
      escaped += "\\n";
    else
      escaped += letter;
  }
  return escaped;
}

/// Returns the description of a metric as a help text.
std::string help(std::string_view id) {
  std::string text = metrics::get(id).meaning;
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

template <class Number>
void writeOne(std::string& text, const char* name, const char* type, const std::string& help, Number value) {
  fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type,
                 value);
}

}  // namespace

void ServerMetrics::Histogram::add(double value) {
  const auto bound = std::ranges::lower_bound(bounds, value);
  if (bound != bounds.end()) ++counts[static_cast<std::size_t>(bound - bounds.begin())];
  ++count;
  sum += value;
}

ServerMetrics::ServerMetrics(const ServedModel& model)
    : m_model(model.name),
      m_blocks(model.blocks),
      m_blockSize(model.blockSize),
      m_firstToken({0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60}),
      m_betweenTokens({0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5}),
      m_queue({0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60}),
      m_seconds({0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}) {}

void ServerMetrics::countAnswer(const std::string& endpoint, int status) {
  const std::lock_guard lock(m_mutex);
  ++m_answers[{endpoint, status}];
}

void ServerMetrics::countSeconds(double seconds) {
  const std::lock_guard lock(m_mutex);
  m_seconds.add(seconds);
}

void ServerMetrics::countGone() {
  const std::lock_guard lock(m_mutex);
  ++m_gone;
}

void ServerMetrics::setClients(std::size_t clients) {
  const std::lock_guard lock(m_mutex);
  m_clients = clients;
}

void ServerMetrics::setRequests(std::size_t running) {
  const std::lock_guard lock(m_mutex);
  m_running = running;
}

void ServerMetrics::take(const trace::Event& event) {
  const std::lock_guard lock(m_mutex);
  if (const auto* metrics = std::get_if<trace::StepMetrics>(&event.payload)) {
    m_queue.add(metrics->queueTime);
    if (metrics->generatedTokens > 0) m_firstToken.add(metrics->timeToFirstToken);
    if (metrics->generatedTokens > 1) m_betweenTokens.add(metrics->interTokenLatency);
  } else if (const auto* admitted = std::get_if<trace::RequestAdmitted>(&event.payload)) {
    if (admitted->resumed) return;
    m_promptTokens += static_cast<std::uint64_t>(admitted->promptTokens);
    m_cachedTokens += static_cast<std::uint64_t>(admitted->cachedTokens);
    m_relocatedTokens += static_cast<std::uint64_t>(admitted->relocatedTokens);
  } else if (std::holds_alternative<trace::TokenGenerated>(event.payload)) {
    ++m_generatedTokens;
  } else if (std::holds_alternative<trace::RequestPreempted>(event.payload)) {
    ++m_preemptions;
  } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload)) {
    if (removed->reason == trace::RemovalReason::Evicted) ++m_evictions;
  } else if (const auto* allocated = std::get_if<trace::BlockAllocated>(&event.payload)) {
    m_references[allocated->block] = 1;
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&event.payload)) {
    m_references[shared->block] = shared->references;
  } else if (const auto* released = std::get_if<trace::BlockReleased>(&event.payload)) {
    if (released->references > 0)
      m_references[released->block] = released->references;
    else
      m_references.erase(released->block);
  }
}

void ServerMetrics::write(std::string& text, const std::string& name, const std::string& help,
                          const Histogram& histogram) {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "# HELP {0} {1}\n# TYPE {0} histogram\n", name, help);
  std::uint64_t upTo = 0;
  for (std::size_t i = 0; i < histogram.bounds.size(); ++i) {
    upTo += histogram.counts[i];
    fmt::format_to(out, "{}_bucket{{le=\"{}\"}} {}\n", name, histogram.bounds[i], upTo);
  }
  fmt::format_to(out, "{0}_bucket{{le=\"+Inf\"}} {1}\n{0}_sum {2}\n{0}_count {1}\n", name, histogram.count,
                 histogram.sum);
}

std::string ServerMetrics::text() const {
  const std::lock_guard lock(m_mutex);
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "# HELP spanscope_model_info The model that is served\n# TYPE spanscope_model_info gauge\n"
                 "spanscope_model_info{{model=\"{}\",block_size=\"{}\"}} 1\n",
                 labelText(m_model), m_blockSize);
  writeOne(text, "spanscope_clients", "gauge", "Open connections", m_clients);
  writeOne(text, "spanscope_requests_running", "gauge", "Requests that run or wait", m_running);
  text +=
      "# HELP spanscope_http_answers_total Answers by endpoint and status\n# TYPE "
      "spanscope_http_answers_total "
      "counter\n";
  for (const auto& [key, number] : m_answers) {
    fmt::format_to(out, "spanscope_http_answers_total{{endpoint=\"{}\",status=\"{}\"}} {}\n",
                   labelText(key.first), key.second, number);
  }
  writeOne(text, "spanscope_clients_gone_total", "counter", "Clients that left before their answer", m_gone);
  writeOne(text, "spanscope_prompt_tokens_total", "counter", help("prompt-tokens"), m_promptTokens);
  writeOne(text, "spanscope_prompt_tokens_cached_total", "counter", help("cached-tokens"), m_cachedTokens);
  writeOne(text, "spanscope_prompt_tokens_relocated_total", "counter", help("relocated-tokens"),
           m_relocatedTokens);
  writeOne(text, "spanscope_generated_tokens_total", "counter", help("generated-tokens"), m_generatedTokens);
  writeOne(text, "spanscope_preemptions_total", "counter", "Preempted requests", m_preemptions);
  writeOne(text, "spanscope_blocks_evicted_total", "counter", help("evicted-blocks"), m_evictions);
  writeOne(text, "spanscope_blocks", "gauge", help("pool-blocks"), m_blocks);
  writeOne(text, "spanscope_blocks_in_use", "gauge", "Blocks in use", m_references.size());
  write(text, "spanscope_time_to_first_token_seconds", help("time-to-first-token"), m_firstToken);
  write(text, "spanscope_inter_token_latency_seconds", help("inter-token-latency"), m_betweenTokens);
  write(text, "spanscope_queue_time_seconds", help("queue-time"), m_queue);
  write(text, "spanscope_request_seconds", "From a request to the end of its answer", m_seconds);
  return text;
}

}  // namespace spanscope::server
