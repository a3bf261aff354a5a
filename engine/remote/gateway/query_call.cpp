// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/query_call.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/remote/server/planned_call.h"
#include "engine/remote/server/served_address.h"
#include "engine/workbench/servers/cache_order.h"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <utility>

namespace spanscope::gateway {

namespace {

using server::ApiError;
using server::ApiFailure;

bool hasFlag(const std::string& target, std::string_view flag) {
  const std::size_t begin = std::min(target.find('?'), target.size() - 1) + 1;
  for (const std::string_view part : splitAt(std::string_view(target).substr(begin), '&')) {
    if (part == flag) return true;
  }
  return false;
}

/// Returns the index of the choice of each request. Requests whose answers other requests need have none.
std::map<std::size_t, std::size_t> choicesOf(const std::vector<exports::ChatRequest>& requests) {
  std::set<std::size_t> needed;
  for (const exports::ChatRequest& request : requests) {
    for (const exports::ChatMessage& message : request.messages) {
      if (message.answerOf) needed.insert(*message.answerOf);
    }
  }
  std::map<std::size_t, std::size_t> choices;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (!needed.contains(i)) choices.emplace(i, choices.size());
  }
  return choices;
}

/// Writes the answer to the client while the run is in progress, and feeds the simulated cache.
class QueryAnswer final : public remote::RemoteWatcher {
 public:
  QueryAnswer(server::Connection& client, Upstream& upstream, RunBook& book,
              const std::vector<exports::ChatRequest>& requests, const server::PlannedCall& planned,
              server::ReplyHead head)
      : m_client(client),
        m_upstream(upstream),
        m_book(book),
        m_choices(choicesOf(requests)),
        m_isStream(planned.stream),
        m_whole(head, m_choices.size(), false, *book.tokenizer),
        m_stream(std::move(head), m_choices.size(), false, planned.includesUsage, *book.tokenizer) {}

  /// A run that ends by an exception leaves no prompt in progress.
  ~QueryAnswer() override {
    for (const auto& [request, sent] : m_sent)
      if (sent.cached != 0) m_upstream.trace().cache().drop(sent.cached);
  }
  QueryAnswer(const QueryAnswer&) = delete;
  QueryAnswer& operator=(const QueryAnswer&) = delete;

  /// Sets the ids of the run. Call this function before the run.
  void use(RunId run, RequestId lastRequest) {
    m_run = run;
    m_lastRequest = lastRequest;
  }

  /// For RemoteTarget::arrange.
  std::optional<remote::SentOrder> arrange(std::size_t index, exports::ChatRequest& request) {
    std::optional<remote::SentOrder> order = putInOrderFor(m_upstream, request, m_book);
    m_sent[index].call = {.kind = CallKind::Chat, .request = request};
    return order;
  }

  void sends(std::size_t request, std::size_t /*target*/, const std::string& /*model*/,
             std::size_t /*bytes*/) override {
    const auto sent = m_sent.find(request);
    if (sent == m_sent.end()) return;
    sent->second.prompt = promptOf(sent->second.call, m_book);
    sent->second.cached =
        tracePrompt(m_upstream.trace(), m_book, sent->second.call, sent->second.prompt, aboutOf(request));
    m_upstream.trace().cache().serve(sent->second.cached);
  }

  void text(std::size_t request, const std::string& piece) override {
    if (const auto choice = m_choices.find(request); choice != m_choices.end())
      take({.choice = choice->second, .text = piece});
  }

  void stepEnds(const remote::RemoteStep& step) override {
    m_usage.promptTokens += step.answer.promptTokens.value_or(0);
    m_usage.cachedTokens += step.cached.tokens;
    m_usage.completionTokens += step.answer.generatedTokens.value_or(0);
    if (const auto sent = m_sent.find(step.request); sent != m_sent.end())
      traceAnswer(m_upstream.trace(), m_book, std::exchange(sent->second.cached, 0), sent->second.prompt,
                  step, aboutOf(step.request));
    const auto choice = m_choices.find(step.request);
    if (choice == m_choices.end() || !step.brokenBy.empty()) return;
    take({.choice = choice->second,
          .text = {},
          .finished = remote::isTokenLimit(step.answer.finish) ? server::FinishReason::Length
                                                               : server::FinishReason::Stop});
  }

  /// Writes the end of the answer. Returns whether the connection can get another request. Throws ApiFailure
  /// if nothing was written.
  bool finish(const std::optional<ApiError>& error) {
    if (!m_isStream || !m_hasWritten) {
      if (error) throw ApiFailure(*error);
    }
    if (m_isStream) {
      write(error ? server::eventOf(server::errorJson(*error)) + server::kDone : m_stream.end(m_usage));
      return m_isTaken && m_client.writeAll(m_client.head().isOld ? "" : "0\r\n\r\n") &&
             !m_client.head().isOld;
    }
    const std::string body = m_whole.json(m_usage);
    return m_client.writeAll("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  bool isTaken() const { return m_isTaken; }

 private:
  struct Sent {
    PassedCall call{};
    PassedPrompt prompt{};
    std::uint64_t cached = 0;  ///< the prompt in the simulated cache; 0: none
  };

  simulator::TracedRequest aboutOf(std::size_t request) const {
    const auto sent = m_sent.find(request);
    return {.run = m_run,
            .request = m_lastRequest + 1 + static_cast<RequestId>(request),
            .node = sent == m_sent.end() ? NodePath() : sent->second.call.request.node,
            .step = static_cast<StepIndex>(request)};
  }

  void take(const server::AnswerPiece& piece) {
    if (m_isStream)
      write(m_stream.take(piece));
    else
      m_whole.take(piece);
  }

  void write(const std::string& events) {
    const bool isOld = m_client.head().isOld;
    std::string text;
    if (!std::exchange(m_hasWritten, true)) {
      text = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n";
      text += isOld ? "Connection: close\r\n\r\n" : "Transfer-Encoding: chunked\r\n\r\n";
      text += framed(m_stream.begin());
    }
    text += framed(events);
    m_isTaken = m_isTaken && m_client.writeAll(text);
  }
  std::string framed(const std::string& events) const {
    if (m_client.head().isOld || events.empty()) return events;
    return fmt::format("{:x}\r\n", events.size()) + events + "\r\n";
  }

  server::Connection& m_client;
  Upstream& m_upstream;
  RunBook& m_book;
  const std::map<std::size_t, std::size_t> m_choices;
  const bool m_isStream;
  server::WholeReply m_whole;
  server::StreamedReply m_stream;
  server::AnswerUsage m_usage;
  RunId m_run = 0;
  RequestId m_lastRequest = 0;
  std::map<std::size_t, Sent> m_sent;
  bool m_hasWritten = false;
  bool m_isTaken = true;
};

/// Returns the first upstream server with a connection. Throws ApiFailure.
Upstream& reachable(const std::vector<Upstream*>& turn) {
  std::string problems;
  for (Upstream* const upstream : turn) {
    try {
      upstream->keep(upstream->link());
      return *upstream;
    } catch (const Failure& failure) {
      upstream->failed(failure.error().found);
      problems += (problems.empty() ? "" : "; ") + upstream->config().name + ": " + failure.error().found;
    }
  }
  throw ApiFailure({.status = 502,
                    .message = "No upstream server can be reached: " + problems + ".",
                    .type = "upstream_error",
                    .code = "upstream_unreachable"});
}

}  // namespace

bool answerSpanQuery(const SpanQueryCall& call, const std::vector<std::unique_ptr<Upstream>>& upstreams,
                     RunBook& book) {
  constexpr std::int32_t kUsualTokens = 256;
  const server::CallRules rules{.options = {}, .plan = {}, .mostTokens = 0, .usualTokens = kUsualTokens};
  server::PlannedCall planned = server::planQuery(call.body, rules, 0);
  planned.stream = hasFlag(call.client.head().target, "stream=true");
  planned.includesUsage = hasFlag(call.client.head().target, "include_usage=true");
  if (planned.stream) planned.form = server::AnswerForm::Completion;
  const exports::ChatRequests made = exports::chatRequests(planned.query);
  if (made.requests.empty())
    server::refuseField({}, made.problems.empty() ? "This request contains nothing to generate."
                                                  : made.problems.front().message());
  const std::vector<exports::ChatRequest>& requests = made.requests;
  const std::vector<TokenId> first =
      upstreams.size() > 1 ? promptOf({.kind = CallKind::Chat, .request = requests.front()}, book).tokens
                           : std::vector<TokenId>();
  Turn turn = inTurn(upstreams, requests.front().model, first, call.mostAhead, call.routing);
  Upstream& upstream = reachable(turn.upstreams);
  const std::shared_ptr<Upstream::Running> isRunning =
      &upstream == turn.upstreams.front() ? turn.reserved : std::make_shared<Upstream::Running>(upstream);
  turn.reserved.reset();

  const RunId run = ++book.lastRun;
  const RequestId lastRequest = book.lastRequest.fetch_add(static_cast<RequestId>(requests.size()));
  remote::RemoteTarget target{.name = upstream.config().name,
                              .server = {.url = upstream.config().url, .model = {}},
                              .facts = upstream.trace().facts()};
  target.server.access = upstream.config().access;
  if (!call.clientKey.empty()) target.server.access.key = call.clientKey;
  const std::int64_t created = call.about.time / 1000;
  const bool isChat = planned.form == server::AnswerForm::Chat;
  QueryAnswer answer(call.client, upstream, book, requests, planned,
                     {.id = (isChat ? "chatcmpl-gateway-" : "cmpl-gateway-") + std::to_string(run),
                      .created = created,
                      .model = planned.model,
                      .fingerprint = {},
                      .form = planned.form});
  answer.use(run, lastRequest);
  target.arrange = [&answer](std::size_t index, exports::ChatRequest& request) {
    return answer.arrange(index, request);
  };
  server::ServedRequest about = call.about;
  about.model = planned.model;
  about.queryJson = query::writeCanonical(planned.query);
  remote::RemoteRunInfo info{.program = book.program,
                             .queryJson = about.queryJson,
                             .explain = {},
                             .seed = 0,
                             .run = run,
                             .lastRequest = lastRequest,
                             .retrieved = {},
                             .warnings = {}};
  upstream.trace().cache().startSession(book.program, book.model, upstream.trace().title());
  const std::uint64_t number = book.requests.add(std::move(about));
  upstream.trace().follow(run, number);
  const std::vector<remote::RemoteTarget> targets{std::move(target)};
  const std::vector<std::size_t> targetOf;
  remote::RemoteTrace traced(upstream.trace().sink(), std::move(info), targets, targetOf, requests, &answer);
  std::stop_source stop;
  std::mutex mutex;
  std::optional<ApiError> interrupted;
  remote::RemoteResult result;
  {
    // The client may leave while the upstream server computes.
    const std::jthread watch([&](const std::stop_token& ends) {
      while (!ends.stop_requested() && !stop.stop_requested()) {
        if (std::optional<ApiError> error = call.interruption()) {
          const std::lock_guard lock(mutex);
          interrupted = std::move(error);
          stop.request_stop();
        }
        std::this_thread::sleep_for(server::kCheckPeriod);
      }
    });
    traced.begin();
    remote::HttpClient client;
    result = remote::runRemotely(client, targets, targetOf, requests, traced, stop.get_token());
    traced.end(result);
  }
  upstream.trace().unfollow(run);
  using State = server::RequestState;
  book.requests.end(number,
                    result.isStopped ? State::Stopped
                    : result.error   ? State::Failed
                                     : State::Finished,
                    result.error ? result.error->message() : std::string());
  if (interrupted) return answer.finish(interrupted);
  if (result.error) {
    const std::string problem =
        remote::withoutKey(Failure(*result.error).what(), targets.front().server.access.key);
    return answer.finish(ApiError{
        .status = 502,
        .message = "The upstream server " + upstream.config().name + " did not answer: " + problem + ".",
        .type = "upstream_error",
        .code = "upstream_error"});
  }
  upstream.succeeded();
  return answer.finish(std::nullopt);
}

}  // namespace spanscope::gateway
