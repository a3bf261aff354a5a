// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/passed_run.h"

#include "engine/base/ascii.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/layout/span_table.h"
#include "engine/query/json/json.h"
#include "engine/remote/protocol.h"
#include "engine/run/trace_values.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/servers/simulator_prediction.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::gateway {

namespace {

using LogJson = nlohmann::ordered_json;

constexpr int kOkStatus = 200;
constexpr std::size_t kMostErrorBytes = std::size_t{16} << 10U;

const remote::Protocol& protocolOf(CallKind kind) {
  return *remote::findProtocol(kind == CallKind::Completion ? "completions" : "chat");
}

/// Returns the prompt as one segment, with a section for each message.
layout::SpanTable tableOf(const PassedCall& call, const PassedPrompt& prompt) {
  layout::SpanTable table;
  layout::Segment segment;
  const auto add = [&segment](const std::vector<TokenId>& ids, std::size_t begin, std::size_t count,
                              layout::TokenRun::Source source, const NodePath& node, std::size_t part) {
    if (count == 0) return;
    const auto first = ids.begin() + static_cast<std::ptrdiff_t>(begin);
    segment.tokens.insert(segment.tokens.end(), first, first + static_cast<std::ptrdiff_t>(count));
    segment.runs.push_back({.count = static_cast<std::int32_t>(count),
                            .source = source,
                            .node = node,
                            .part = static_cast<std::uint32_t>(part)});
  };
  using Source = layout::TokenRun::Source;
  const std::vector<TokenId>& opening = prompt.rendered.opening;
  table.parts.push_back({.node = call.request.node, .inPlus = false});
  add(opening, 0, opening.size(), Source::Template, call.request.node, 0);
  for (std::size_t i = 0; i < prompt.messages.size(); ++i) {
    const exports::ChatMessage& message = prompt.messages[i];
    const text::RenderedMessage& rendered = prompt.rendered.messages[i];
    const bool isInPlus = message.node.find("/plus/") != std::string::npos;
    const std::size_t part = table.parts.size();
    table.parts.push_back({.node = message.node, .inPlus = isInPlus});
    const auto begin = static_cast<std::size_t>(rendered.textBegin);
    const auto count = static_cast<std::size_t>(rendered.textCount);
    add(rendered.ids, 0, begin, Source::Template, message.node, part);
    add(rendered.ids, begin, count, Source::Text, message.node, part);
    add(rendered.ids, begin + count, rendered.ids.size() - begin - count, Source::Template, message.node,
        part);
  }
  const std::vector<TokenId>& last = prompt.rendered.generationPrompt;
  add(last, 0, last.size(), Source::Template, call.request.node, 0);
  segment.node = call.request.node;
  table.segments.push_back(std::move(segment));
  return table;
}

/// The sampled tokens continue the prompt.
std::vector<TokenId> sequenceOf(const PassedPrompt& prompt, const remote::ChatAnswer& answer,
                                const RunBook& book) {
  std::vector<TokenId> tokens = workbench::sampledTokens(
      {.text = answer.text, .endedItself = remote::isOwnEnd(answer.finish)}, *book.tokenizer, book.chat);
  // The server has not computed the last token.
  if (!tokens.empty()) tokens.pop_back();
  tokens.insert(tokens.begin(), prompt.tokens.begin(), prompt.tokens.end());
  return tokens;
}

/// The server and its cache, so that the doctor applies its caching rules.
LogJson serverOf(const remote::ServerFacts& facts) {
  LogJson server{{"kind", remote::infoOf(facts.kind).name}};
  if (!facts.version.empty()) server["version"] = facts.version;
  if (facts.slots) server["slots"] = *facts.slots;
  if (facts.cache.blockSize) server["block_size"] = *facts.cache.blockSize;
  const workbench::SimulatorSetup setup = workbench::simulatorSetup(facts.kind, facts.slots, facts.cache);
  if (setup.settings.cacheTokens > 0) server["cache_tokens"] = setup.settings.cacheTokens;
  return server;
}

}  // namespace

UpstreamTrace::UpstreamTrace(std::string name, std::string url, RunBook& book)
    : m_name(std::move(name)),
      m_url(std::move(url)),
      m_book(book),
      m_recorder(std::make_shared<trace::Recorder>()),
      m_cache(*m_recorder) {
  m_recorder->setListener([this](const trace::Event& event) {
    std::uint64_t number = 0;
    {
      const std::lock_guard lock(m_mutex);
      const auto found = m_numbers.find(event.run);
      if (found == m_numbers.end()) return;
      number = found->second;
    }
    m_book.requests.take(number, event);
  });
}

std::uint64_t UpstreamTrace::SessionSink::send(RunId run, RequestId request, const NodePath& node,
                                               trace::Payload payload) {
  if (std::holds_alternative<trace::SessionStarted>(payload)) return recorder.lastSequence();
  return recorder.send(run, request, node, std::move(payload));
}

UpstreamTrace::~UpstreamTrace() {
  m_recorder->setListener({});
}

remote::ServerFacts UpstreamTrace::facts() const {
  const std::lock_guard lock(m_mutex);
  return m_facts;
}

void UpstreamTrace::setFacts(remote::ServerFacts facts) {
  facts.cache.tokenBytes = m_book.tokenBytes;
  m_cache.use(facts);
  const std::lock_guard lock(m_mutex);
  m_facts = std::move(facts);
}

std::string UpstreamTrace::title() const {
  return std::string(remote::infoOf(facts().kind).title) + " on " + m_name;
}

void UpstreamTrace::follow(RunId run, std::uint64_t number) {
  const std::lock_guard lock(m_mutex);
  m_numbers[run] = number;
}

void UpstreamTrace::unfollow(RunId run) {
  const std::lock_guard lock(m_mutex);
  m_numbers.erase(run);
}

PassedPrompt promptOf(const PassedCall& call, const RunBook& book) {
  PassedPrompt prompt{.messages = call.request.messages};
  const std::vector<exports::ChatMessage>& messages = prompt.messages;
  if (!call.unknownPrompt.empty() || messages.empty()) return prompt;
  try {
    if (call.kind == CallKind::Completion) {
      text::RenderedMessage text{.ids = book.tokenizer->encode(messages.front().content)};
      text.textCount = static_cast<std::int32_t>(text.ids.size());
      prompt.rendered = {.opening = text::renderPieces(book.chat.opening, *book.tokenizer),
                         .messages = {std::move(text)},
                         .generationPrompt = {}};
    } else {
      std::vector<text::ConversationMessage> conversation;
      for (const exports::ChatMessage& message : messages)
        conversation.push_back({message.role, message.content});
      prompt.rendered = text::renderConversation(book.chat, *book.tokenizer, conversation);
    }
    prompt.tokens = prompt.rendered.ids();
  } catch (const Failure&) {
    prompt.tokens.clear();  // The template cannot write the conversation, so nothing is predicted.
  }
  return prompt;
}

std::uint64_t tracePrompt(UpstreamTrace& upstream, const RunBook& book, const PassedCall& call,
                          const PassedPrompt& prompt, const simulator::TracedRequest& about) {
  trace::Recorder& recorder = *upstream.recorder();
  std::optional<std::int64_t> slots = upstream.facts().slots;
  if (slots && *slots < 1) slots.reset();
  recorder.send(about.run, about.request, about.node,
                trace::RequestPassed{.slots = slots, .missing = call.unknownPrompt});
  if (prompt.tokens.empty()) {
    if (!call.unknownPrompt.empty())
      recorder.send(about.run, about.request, about.node,
                    trace::MessageLogged{.severity = Severity::Note,
                                         .text = "The gateway cannot compute the tokens of the prompt: " +
                                                 call.unknownPrompt + "."});
    return 0;
  }
  if (!upstream.cache().title().empty()) {
    const layout::SpanTable table = tableOf(call, prompt);
    recorder.send(about.run, about.request, about.node, run::spanTableEvent(table, book.tokenizer.get()));
    if (trace::PromptDivided parts = run::partsEvent(table); !parts.parts.empty())
      recorder.send(about.run, about.request, about.node, std::move(parts));
  }
  return upstream.cache().begin(prompt.tokens, about);
}

std::optional<CachePrediction> traceAnswer(UpstreamTrace& upstream, const RunBook& book, std::uint64_t number,
                                           const PassedPrompt& prompt, const remote::RemoteStep& step,
                                           const simulator::TracedRequest& about) {
  const auto note = [&](Severity severity, std::string text) {
    upstream.recorder()->send(about.run, about.request, about.node,
                              trace::MessageLogged{.severity = severity, .text = std::move(text)});
  };
  if (number == 0) return std::nullopt;
  const remote::ChatAnswer& answer = step.answer;
  if (!remote::isComputed(step)) {
    upstream.cache().drop(number);
    constexpr int kBadRequest = 400;
    constexpr int kServerError = 500;
    const bool isRefused = step.status >= kBadRequest && step.status < kServerError;
    note(Severity::Note, isRefused ? "The server refused the request, so the prompt does not count as cached."
                                   : "It is unknown whether the server computed the prompt. The prompt does "
                                     "not count as cached.");
    return std::nullopt;
  }
  std::optional<CachePrediction> prediction = upstream.cache().end(
      number, answer.text.empty() ? std::vector<TokenId>() : sequenceOf(prompt, answer, book));
  if (!prediction || !prediction->isOfServer || !answer.promptTokens) return prediction;
  const auto predicted = static_cast<std::int64_t>(prompt.tokens.size());
  if (*answer.promptTokens != predicted) {
    note(Severity::Warning, "The server counted " + std::to_string(*answer.promptTokens) +
                                " prompt tokens, but Spanscope counted " + std::to_string(predicted) +
                                ". The server uses another tokenizer or chat template than the gateway, so "
                                "the shown blocks are an estimate.");
    return prediction;
  }
  note(Severity::Note, "Predicted by the cache simulator of " + upstream.cache().title() + ": " +
                           std::to_string(prediction->answer.cached) + " of " + std::to_string(predicted) +
                           " prompt tokens cached");
  return prediction;
}

PassedRun::PassedRun(RunBook& book, UpstreamTrace& upstream, PassedCall call, std::string body,
                     std::optional<PassedPrompt> prompt, std::optional<remote::SentOrder> order,
                     server::ServedRequest about, std::string key)
    : m_book(book),
      m_upstream(upstream),
      m_call(std::move(call)),
      m_body(std::move(body)),
      m_prompt(std::move(prompt)),
      m_order(std::move(order)),
      m_about(std::move(about)),
      m_key(std::move(key)) {}

PassedRun::~PassedRun() {
  if (m_cached != 0) m_upstream.cache().drop(m_cached);
}

double PassedRun::elapsed() const {
  return secondsSince(m_sentAt);
}

simulator::TracedRequest PassedRun::traced() const {
  return {.run = m_run, .request = m_request, .node = m_call.request.node, .step = 0};
}

void PassedRun::sent() {
  m_sentAt = Clock::now();
  m_startTime = unixMilliseconds();
  // A second connection may carry the same request.
  if (m_hasBegun) return;
  try {
    startRun();
    simulate();
  } catch (const std::exception& exception) {
    m_problem = exception.what();
  }
}

void PassedRun::startRun() {
  const remote::ServerFacts facts = m_upstream.facts();
  m_run = ++m_book.lastRun;
  m_request = ++m_book.lastRequest;
  m_about.model = m_call.request.model;
  m_about.queryJson = query::writeCanonical(queryOf(m_call));
  remote::RemoteRunInfo info{.program = m_book.program,
                             .queryJson = m_about.queryJson,
                             .explain = {},
                             .seed = 0,
                             .run = m_run,
                             .lastRequest = m_request - 1,
                             .retrieved = {},
                             .warnings = {}};
  if (m_call.choices > 1)
    info.warnings.push_back("The request asks for " + std::to_string(m_call.choices) +
                            " answers. The recording contains only the first answer.");
  if (!m_call.problem.empty()) info.warnings.push_back(m_call.problem);
  m_upstream.cache().startSession(m_book.program, m_book.model, m_upstream.title());
  m_number = m_book.requests.add(m_about);
  m_upstream.follow(m_run, m_number);
  remote::RemoteTarget target{
      .name = m_upstream.name(), .server = {.url = m_upstream.url(), .model = {}}, .facts = facts};
  target.protocol = &protocolOf(m_call.kind);
  m_targets.push_back(std::move(target));
  m_requests.push_back(m_call.request);
  m_trace.emplace(m_upstream.sink(), std::move(info), m_targets, m_targetOf, m_requests);
  m_answers.resize(static_cast<std::size_t>(m_call.choices));
  m_hasBegun = true;
  m_trace->begin();
  m_trace->stepBegins(0);
  m_trace->sends(0, 0, m_call.request.model, m_body.size());
  if (m_order) m_trace->orders(0, *m_order);
  m_reader = std::make_unique<remote::AnswerReader>(*m_targets.front().protocol->answers, m_answers, m_key,
                                                    [this](const std::vector<remote::AnswerText>& came) {
                                                      for (const remote::AnswerText& text : came) {
                                                        if (text.answer != 0) continue;
                                                        m_last = elapsed();
                                                        if (!m_first) m_first = m_last;
                                                        m_trace->text(0, text.piece);
                                                      }
                                                    });
}

void PassedRun::simulate() {
  if (!m_prompt) m_prompt = promptOf(m_call, m_book);
  m_cached = tracePrompt(m_upstream, m_book, m_call, *m_prompt, traced());
}

void PassedRun::waits() {
  if (m_cached != 0) m_upstream.cache().serve(m_cached);
}

void PassedRun::begun(const UpstreamHead& head) {
  m_status = head.status;
  // The server accepts the request.
  if (m_status == kOkStatus) waits();
  m_encoding = inSmallLetters(head.value("content-encoding"));
  if (m_encoding == "identity") m_encoding.clear();
  if (!m_encoding.empty()) m_decoder = ContentDecoder::make(m_encoding);
}

void PassedRun::came(std::string_view content) {
  m_lastCame = elapsed();
  if (m_hasBegun && m_problem.empty()) read(content);
}

void PassedRun::read(std::string_view content) {
  if (!m_encoding.empty() && !m_decoder) {
    m_problem = "the answer is compressed (" + toValidUtf8(m_encoding) + "), so its text was not recorded";
    return;
  }
  try {
    const std::string decoded = m_decoder ? m_decoder->take(content) : std::string();
    if (m_decoder) content = decoded;
    if (m_status == kOkStatus)
      readAnswer([&] { m_reader->add(content); });
    else
      m_error += content.substr(0, kMostErrorBytes - std::min(kMostErrorBytes, m_error.size()));
  } catch (const Failure& failure) {
    m_problem = failure.error().found;
  } catch (const std::exception& exception) {
    m_problem = exception.what();
  }
}

/// Takes the rest of the answer.
void PassedRun::settle() {
  if (m_status != kOkStatus || !m_problem.empty()) return;
  readAnswer([&] { m_reader->settle(); });
}

void PassedRun::readAnswer(const std::function<void()>& read) {
  try {
    read();
  } catch (const Failure& failure) {
    m_problem = failure.error().found;
    m_isNoAnswer = true;
  } catch (const std::exception& exception) {
    m_problem = exception.what();
    m_isNoAnswer = true;
  }
}

void PassedRun::end(const PassageEnd& end) {
  if (!m_hasBegun) {
    refuse(end.problem);
    return writeLog(end);
  }
  settle();
  const remote::ChatAnswer& answer = m_answers.front();
  remote::RemoteStep step{.request = 0,
                          .target = 0,
                          .answer = answer,
                          .cached = remote::cachedOf(answer, remote::infoOf(m_targets.front().facts.kind)),
                          // Without a stream, all text arrives at once, so no token has a time.
                          .timeToFirstToken = m_call.isStream ? m_first : std::nullopt,
                          .timeToLastText = m_call.isStream ? m_last : std::nullopt,
                          .seconds = elapsed(),
                          .counted = m_answers.size(),
                          .brokenBy = {},
                          .status = m_status};
  std::optional<Error> error;
  server::RequestState state = server::RequestState::Finished;
  if (end.how == PassageEnd::How::ClientGone) {
    step.brokenBy = end.problem;
    step.isStopped = true;
    state = server::RequestState::Stopped;
  } else if (end.how != PassageEnd::How::Answered) {
    step.brokenBy = end.problem;
    error = Error{m_upstream.url(), {}, end.problem, "the rest of the answer"};
  } else if (m_status != kOkStatus) {
    m_refusal = remote::withoutKey(remote::errorMessage(m_error), m_key);
    step.brokenBy = "status " + std::to_string(m_status) + (m_refusal.empty() ? "" : ": " + m_refusal);
    error = Error{m_upstream.url(), {}, remote::statusSentence(m_status, m_refusal), {}};
  } else if (!m_problem.empty()) {
    step.warning = m_problem;
  }
  if (error) {
    state = server::RequestState::Failed;
    m_trace->fails(0, *error);
  }
  remote::RemoteStep judged = step;
  judged.isStopped |= end.how == PassageEnd::How::Interrupted;
  if (m_isNoAnswer) judged.brokenBy = m_problem;
  if (!remote::isComputed(judged) && m_status == kOkStatus) m_refusal = judged.brokenBy;
  m_prediction = traceAnswer(m_upstream, m_book, std::exchange(m_cached, 0),
                             m_prompt.value_or(PassedPrompt()), judged, traced());
  finish(std::move(step), error, state);
  writeLog(end);
}

void PassedRun::refuse(const std::string& problem) {
  m_sentAt = Clock::now();
  try {
    startRun();
    const Error error{m_upstream.url(), {}, problem, "a request that can be passed on"};
    m_trace->fails(0, error);
    remote::RemoteStep step;
    step.brokenBy = problem;
    finish(std::move(step), error, server::RequestState::Failed);
  } catch (const std::exception&) {
    // The run is incomplete. The client still gets the answer.
  }
}

void PassedRun::finish(remote::RemoteStep step, const std::optional<Error>& error,
                       server::RequestState state) {
  m_trace->stepEnds(step);
  remote::RemoteResult result;
  result.steps.push_back(std::move(step));
  result.error = error;
  result.isStopped = state == server::RequestState::Stopped;
  m_trace->end(result);
  m_upstream.unfollow(m_run);
  m_book.requests.end(m_number, state, error ? error->message() : std::string());
}

/// A line in the form of a request with its response, which `spanq doctor` reads.
void PassedRun::writeLog(const PassageEnd& end) {
  if (!m_book.log) return;
  LogJson line;
  line["time"] = static_cast<double>(m_about.time) / 1000;
  if (m_startTime > 0) {
    line["start_time"] = static_cast<double>(m_startTime) / 1000;
    line["end_time"] = static_cast<double>(m_startTime) / 1000 + m_lastCame.value_or(elapsed());
  }
  line["upstream"] = m_upstream.name();
  line["server"] = serverOf(m_upstream.facts());
  line["path"] = m_about.endpoint;
  line["status"] = m_status;
  if (m_call.problem.empty()) {
    LogJson request = LogJson::parse(m_body, nullptr, false);
    line["request"] = std::move(request);
  }
  if (!m_refusal.empty()) {
    line["response"]["error"]["message"] = m_refusal;
  } else if (m_status == kOkStatus && !m_answers.empty()) {
    const remote::ChatAnswer& answer = m_answers.front();
    LogJson choices = LogJson::array();
    for (std::size_t index = 0; index < m_answers.size(); ++index) {
      LogJson choice{{"index", index}};
      if (m_call.kind == CallKind::Completion)
        choice["text"] = m_answers[index].text;
      else
        choice["message"] = {{"role", "assistant"}, {"content", m_answers[index].text}};
      if (!m_answers[index].finish.empty()) choice["finish_reason"] = m_answers[index].finish;
      choices.push_back(std::move(choice));
    }
    LogJson response{{"model", answer.model}, {"choices", std::move(choices)}};
    LogJson usage = LogJson::object();
    if (answer.promptTokens) usage["prompt_tokens"] = *answer.promptTokens;
    if (answer.generatedTokens) usage["completion_tokens"] = *answer.generatedTokens;
    if (answer.cachedTokens) usage["prompt_tokens_details"] = {{"cached_tokens", *answer.cachedTokens}};
    if (!usage.empty()) response["usage"] = std::move(usage);
    line["response"] = std::move(response);
  }
  if (m_prediction) line["predicted_cached_tokens"] = m_prediction->answer.cached;
  if (m_order) line["order"] = {{"sent", m_order->children}, {"as_written", m_order->asWritten}};
  if (end.how != PassageEnd::How::Answered) line["problem"] = end.problem;
  // A server computes the prompt of a client that left.
  if (end.how == PassageEnd::How::ClientGone) line["computed"] = true;
  std::string text = compactJson(line);
  m_book.log(remote::withoutKey(text, m_key) + "\n");
}

}  // namespace spanscope::gateway
