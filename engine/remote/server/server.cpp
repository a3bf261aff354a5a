// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/server.h"

#include "engine/base/error.h"
#include "engine/base/sha256.h"
#include "engine/layout/layout.h"
#include "engine/remote/server/access.h"
#include "engine/remote/server/answer.h"
#include "engine/remote/server/api_error.h"
#include "engine/remote/server/call_bodies.h"
#include "engine/remote/server/connection.h"
#include "engine/remote/server/figures.h"
#include "engine/remote/server/kv_events.h"
#include "engine/remote/server/kv_publisher.h"
#include "engine/remote/server/listener.h"
#include "engine/remote/server/planned_call.h"
#include "engine/remote/server/reply_json.h"
#include "engine/text/tokenizer.h"

#include <httplib.h>
#include <nlohmann/json.hpp>
#include <openssl/rand.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace spanscope::server {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using ServerJson = nlohmann::ordered_json;
using Reply = httplib::Response;
using Asked = httplib::Request;

constexpr char kJson[] = "application/json";
constexpr char kEvents[] = "text/event-stream";
constexpr int kClientGone = 499;  ///< nobody sees it; the figures count it
constexpr milliseconds kTurn{50};

std::int64_t millisecondsNow() {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Numbers that nobody foretells; where the library has none, of the clock.
std::uint64_t randomNumber() {
  std::uint64_t number = 0;
  unsigned char bytes[sizeof number];
  if (RAND_bytes(bytes, sizeof bytes) == 1)
    std::memcpy(&number, bytes, sizeof number);
  else
    number = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  return number;
}

std::string newId(const char* prefix) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id = prefix;
  for (int part = 0; part < 2; ++part) {
    std::uint64_t number = randomNumber();
    for (int i = 0; i < 12; ++i, number >>= 4U) id += kDigits[number & 15U];
  }
  return id;
}

/// A seed that a person can read off and type when the request is to be run again.
std::uint64_t randomSeed() {
  return randomNumber() % 1'000'000'000;
}

/// "fp_" with the beginning of a hash: what names a model in the engine is as long as its configuration.
std::string shortFingerprint(const std::string& fingerprint) {
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr std::size_t kBytes = 6;
  const Sha256Value hash =
      sha256({reinterpret_cast<const std::uint8_t*>(fingerprint.data()), fingerprint.size()});
  std::string text = "fp_";
  for (std::size_t i = 0; i < kBytes; ++i) {
    text += kDigits[hash[i] >> 4U];
    text += kDigits[hash[i] & 15U];
  }
  return text;
}

ApiError draining() {
  return {.status = 503,
          .message = "This server is about to end and takes no new requests.",
          .type = "overloaded_error",
          .code = "server_is_ending"};
}

ApiError failed(const RunEnd& end) {
  if (!end.isOfInput) return {.status = 500, .message = end.problem, .type = "server_error"};
  const bool isTooLong = end.problem.find("the model's context") != std::string::npos;
  return {.message = end.problem, .code = isTooLong ? "context_length_exceeded" : "prompt_not_possible"};
}

/// A request that runs: what the thread that answers it holds, and what the engine's thread tells it.
class Served final : public RunListener {
 public:
  Served(PlannedCall call, ServedRequests& requests, ServedRequest about, Figures& figures,
         std::atomic<std::size_t>& running)
      : m_call(std::move(call)),
        m_answer(*m_call.plan, m_call.stops, m_call.choicesPerPrompt),
        m_requests(requests),
        m_figures(figures),
        m_running(running),
        m_number(requests.add(std::move(about))) {}
  ~Served() override {
    m_figures.countSeconds(std::chrono::duration<double>(Clock::now() - m_began).count());
    m_figures.setRequests(--m_running);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  void onEvent(const trace::Event& event) override {
    m_requests.take(m_number, event);
    m_answer.onEvent(event);
  }
  void onEnd(const RunEnd& end) override {
    using How = RunEnd::How;
    m_requests.end(m_number,
                   end.how == How::Finished  ? RequestState::Finished
                   : end.how == How::Stopped ? RequestState::Stopped
                                             : RequestState::Failed,
                   end.problem);
    m_answer.onEnd(end);
  }

  PlannedCall& call() { return m_call; }
  Answer& answer() { return m_answer; }
  Clock::time_point began() const { return m_began; }

 private:
  PlannedCall m_call;
  Answer m_answer;
  ServedRequests& m_requests;
  Figures& m_figures;
  std::atomic<std::size_t>& m_running;
  std::uint64_t m_number;
  Clock::time_point m_began = Clock::now();
};

/// A run with the thread that answers: when this goes, a run that goes on is stopped.
class Going {
 public:
  Going(std::shared_ptr<Served> served, std::unique_ptr<RunHandle> handle)
      : m_served(std::move(served)), m_handle(std::move(handle)) {}
  ~Going() { m_handle->stop(); }
  Going(const Going&) = delete;
  Going& operator=(const Going&) = delete;

  Served& served() { return *m_served; }
  void stop() { m_handle->stop(); }

 private:
  std::shared_ptr<Served> m_served;
  std::unique_ptr<RunHandle> m_handle;
};

}  // namespace

struct Server::Impl {
  Impl(ServerConfig given, Engine& behind)
      : config(std::move(given)),
        engine(behind),
        keys(config.keys),
        access{.isLoopback = isLoopback(config.host), .hosts = config.hosts, .origins = config.origins},
        fingerprint(shortFingerprint(engine.model().fingerprint)),
        figures(engine.model()),
        kvForm(engine.model().blockSize),
        requests(config.served, config.keepsTexts) {
    const bool hasTls = !config.certificate.empty() || !config.privateKey.empty();
    if (!access.isLoopback && (keys.isEmpty() || !hasTls)) {
      throw Failure(errorAt("address " + config.host,
                            keys.isEmpty() ? "no keys of clients" : "no certificate for TLS",
                            "keys and TLS (a certificate and its private key) beyond the loopback"));
    }
    std::shared_ptr<SSL_CTX> tls;
    if (hasTls) tls = tlsContext(config.certificate.string(), config.privateKey.string());
    isSecure = hasTls;
    rules = {.options = config.run, .plan = config.plan, .mostTokens = config.limits.replyTokens};
    listener = std::make_unique<Listener>(config.limits, std::move(tls));
    listener->onClients = [this](std::size_t clients) { figures.setClients(clients); };
    takenPort = listener->take(config.host, config.port);
    route();
    if (!config.kvEvents.endpoint.empty()) kvEvents = std::make_unique<KvPublisher>(config.kvEvents);
    engine.setListener([this](const trace::Event& event) {
      figures.take(event);
      if (!kvEvents) return;
      if (std::vector<KvEvent> events = kvForm.take(event); !events.empty())
        kvEvents->publish(std::move(events));
    });
  }
  ~Impl() {
    // Handlers use what is below them here.
    listener->finish();
    engine.setListener({});
    // What was stopped still tells how it ended.
    while (running > 0) std::this_thread::sleep_for(milliseconds(1));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void route();
  httplib::Server::HandlerResponse check(const Asked& asked, Reply& reply);
  void refuse(Reply& reply, const ApiError& error);
  template <class Handle>
  httplib::Server::Handler guarded(const Handle& handle);

  void checkModel(const std::string& model) const;
  void listModels(Reply& reply) const;
  void tokenize(const Asked& asked, Reply& reply) const;
  void detokenize(const Asked& asked, Reply& reply) const;
  void execute(const Asked& asked, Reply& reply);
  std::shared_ptr<Going> begin(PlannedCall call, const ReplyHead& head, const Asked& asked);
  void answer(PlannedCall call, const Asked& asked, Reply& reply);
  void answerWhole(Going& going, ReplyHead head, Reply& reply);
  void answerInPieces(std::shared_ptr<Going> going, ReplyHead head, Reply& reply);
  /// What ends the wait for an answer before the run does; nothing: it goes on.
  std::optional<ApiError> interruption(Served& served) const;

  const ServerConfig config;
  Engine& engine;
  const KeyRing keys;
  const AccessRules access;
  const std::string fingerprint;  ///< as clients are told
  CallRules rules;
  bool isSecure = false;
  int takenPort = 0;
  Figures figures;
  KvEventForm kvForm;  ///< of the thread that sends events
  std::unique_ptr<KvPublisher> kvEvents;
  ServedRequests requests;
  std::atomic<std::size_t> running = 0;
  std::atomic<bool> isDraining = false;
  std::atomic<bool> isHurrying = false;
  std::unique_ptr<Listener> listener;
};

void Server::Impl::refuse(Reply& reply, const ApiError& error) {
  reply.status = error.status;
  if (error.status == 429 || error.status == 503) reply.set_header("Retry-After", "1");
  if (error.status == 401) reply.set_header("WWW-Authenticate", "Bearer");
  reply.set_content(errorJson(error), kJson);
}

/// Before the body is read: who may ask at all.
httplib::Server::HandlerResponse Server::Impl::check(const Asked& asked, Reply& reply) {
  using enum httplib::Server::HandlerResponse;
  const auto deny = [&](const ApiError& error) {
    refuse(reply, error);
    // The body stands there unread.
    if (Connection* connection = currentConnection()) connection->closeAfterwards();
    return Handled;
  };
  const auto forbidden = [&](const std::string& message, const char* code) {
    return deny({.status = 403, .message = message, .type = "permission_error", .code = code});
  };
  if (asked.get_header_value_count("Host") > 1 || !isHostAllowed(asked.get_header_value("Host"), access))
    return forbidden("This server does not answer to this Host.", "host_not_allowed");
  const std::string origin = asked.get_header_value("Origin");
  if (!isOriginAllowed(origin, access))
    return forbidden("Pages of this Origin may not use this server.", "origin_not_allowed");
  const std::string site = asked.get_header_value("Sec-Fetch-Site");
  if (origin.empty() && !site.empty() && site != "none" && site != "same-origin")
    return forbidden("Pages of other sites may not use this server.", "origin_not_allowed");
  if (!origin.empty()) {
    reply.set_header("Access-Control-Allow-Origin", origin);
    reply.set_header("Vary", "Origin");
  }
  if (asked.method == "OPTIONS" && !origin.empty()) {
    reply.set_header("Access-Control-Allow-Methods", "GET, POST");
    reply.set_header("Access-Control-Allow-Headers", "Authorization, Content-Type");
    reply.status = 204;
    return Handled;
  }
  if (asked.path == "/health") return Unhandled;
  if (!keys.isEmpty() && !keys.saltOf(asked.get_header_value("Authorization"))) {
    return deny({.status = 401,
                 .message = "This server needs a key: Authorization: Bearer KEY.",
                 .type = "authentication_error",
                 .code = "invalid_api_key"});
  }
  if (isDraining) return deny(draining());
  // A packed body may be a thousand times as large as it looks.
  const std::string packing = asked.get_header_value("Content-Encoding");
  if (!packing.empty() && packing != "identity") {
    return deny({.status = 415,
                 .message = "This server takes no packed bodies (Content-Encoding).",
                 .code = "unsupported_encoding"});
  }
  return Unhandled;
}

/// A handler whose failures become answers.
template <class Handle>
httplib::Server::Handler Server::Impl::guarded(const Handle& handle) {
  return [this, handle](const Asked& asked, Reply& reply) {
    try {
      handle(asked, reply);
    } catch (const ApiFailure& failure) {
      refuse(reply, failure.error());
    } catch (const Failure& failure) {
      refuse(reply, {.message = failure.what()});
    } catch (const std::exception& exception) {
      refuse(reply, {.status = 500, .message = exception.what(), .type = "server_error"});
    }
  };
}

void Server::Impl::route() {
  Listener& http = *listener;
  http.set_pre_routing_handler([this](const Asked& asked, Reply& reply) { return check(asked, reply); });
  // The library's own refusals have no body.
  http.set_error_handler([this](const Asked& asked, Reply& reply) {
    if (!reply.body.empty() || reply.content_provider_) return;
    Connection* const connection = currentConnection();
    const ReadFault fault = connection != nullptr ? connection->fault() : ReadFault::None;
    if (fault == ReadFault::TooSlow)
      refuse(reply,
             {.status = 408, .message = "The request did not come in time.", .code = "request_timeout"});
    else if (fault == ReadFault::HeadTooLong)
      refuse(reply,
             {.status = 431, .message = "The head of the request is too long.", .code = "head_too_long"});
    else if (reply.status == 413 || fault == ReadFault::BodyTooLong)
      refuse(reply,
             {.status = 413,
              .message = "The body may have at most " + std::to_string(config.limits.bodyBytes) + " bytes.",
              .code = "body_too_large"});
    else if (reply.status == 404)
      refuse(reply, {.status = 404,
                     .message = "There is no " + asked.method + " " + asked.path + " here.",
                     .code = "not_found"});
    else
      refuse(
          reply,
          {.status = reply.status, .message = "This is no request that can be read.", .code = "bad_request"});
    // Where reading went wrong, nobody knows where the next request begins.
    if (connection != nullptr && reply.status != 404) connection->closeAfterwards();
  });
  http.set_logger([this](const Asked& asked, const Reply& reply) {
    static constexpr std::string_view kPaths[] = {
        "/health",         "/metrics",          "/v1/models", "/v1/chat/completions",
        "/v1/completions", "/v1/query/execute", "/tokenize",  "/detokenize"};
    const bool isKnown = std::find(std::begin(kPaths), std::end(kPaths), asked.path) != std::end(kPaths);
    figures.countAnswer(isKnown ? asked.path : "other", reply.status);
  });

  http.Get("/health", [this](const Asked& /*asked*/, Reply& reply) {
    if (isDraining) return refuse(reply, draining());
    reply.set_content(R"({"status":"ok"})", kJson);
  });
  http.Get("/metrics", [this](const Asked& /*asked*/, Reply& reply) {
    reply.set_content(figures.text(), "text/plain; version=0.0.4; charset=utf-8");
  });
  http.Get("/v1/models", [this](const Asked& /*asked*/, Reply& reply) { listModels(reply); });
  http.Post("/tokenize", guarded([this](const Asked& asked, Reply& reply) { tokenize(asked, reply); }));
  http.Post("/detokenize", guarded([this](const Asked& asked, Reply& reply) { detokenize(asked, reply); }));
  http.Post("/v1/chat/completions", guarded([this](const Asked& asked, Reply& reply) {
              const ChatCall call = readChatCall(asked.body);
              checkModel(call.settings.model);
              PlannedCall planned = planChat(call, rules, randomSeed());
              planned.options.salt = call.settings.cacheSalt;
              answer(std::move(planned), asked, reply);
            }));
  http.Post("/v1/completions", guarded([this](const Asked& asked, Reply& reply) {
              const CompletionCall call = readCompletionCall(asked.body);
              checkModel(call.settings.model);
              PlannedCall planned = planCompletion(call, rules, engine.model(), randomSeed());
              planned.options.salt = call.settings.cacheSalt;
              answer(std::move(planned), asked, reply);
            }));
  http.Post("/v1/responses", guarded([](const Asked& /*asked*/, Reply& /*reply*/) {
              throw ApiFailure({.status = 404,
                                .message = "This server has no responses; it has chat completions "
                                           "(/v1/chat/completions), which keep no state.",
                                .type = "not_found_error",
                                .code = "unsupported_endpoint"});
            }));
  http.Post("/v1/query/execute",
            guarded([this](const Asked& asked, Reply& reply) { execute(asked, reply); }));
}

void Server::Impl::execute(const Asked& asked, Reply& reply) {
  PlannedCall planned = planQuery(asked.body, rules, randomSeed());
  checkModel(planned.model);
  const auto flag = [&asked](const char* name) {
    const std::string value = asked.get_param_value(name);
    if (!value.empty() && value != "true" && value != "false")
      refuseField(name, "'" + std::string(name) + "' must be true or false.");
    return value == "true";
  };
  planned.stream = flag("stream");
  planned.includesUsage = flag("include_usage");
  // SPNL's client reads every stream as one of completions.
  if (planned.stream) planned.form = AnswerForm::Completion;
  answer(std::move(planned), asked, reply);
}

void Server::Impl::checkModel(const std::string& model) const {
  constexpr std::string_view kProvider = "spnl/";
  std::string_view name = model;
  if (name.starts_with(kProvider)) name.remove_prefix(kProvider.size());
  const auto& names = config.names;
  const bool isKnown = name.empty() || name == engine.model().name ||
                       std::find(names.begin(), names.end(), name) != names.end() ||
                       std::find(names.begin(), names.end(), "*") != names.end();
  if (isKnown) return;
  throw ApiFailure(
      {.status = 404,
       .message = "The model '" + model + "' is not served here; '" + engine.model().name + "' is.",
       .type = "not_found_error",
       .param = "model",
       .code = "model_not_found"});
}

void Server::Impl::listModels(Reply& reply) const {
  ServerJson list = ServerJson::array();
  const auto add = [&](const std::string& name) {
    list.push_back({{"id", name},
                    {"object", "model"},
                    {"created", 0},
                    {"owned_by", "spanscope"},
                    {"root", engine.model().name},
                    {"parent", nullptr},
                    {"max_model_len", engine.model().context}});
  };
  add(engine.model().name);
  for (const std::string& name : config.names) {
    if (name != "*" && name != engine.model().name) add(name);
  }
  const ServerJson json = {{"object", "list"}, {"data", std::move(list)}};
  reply.set_content(json.dump(-1, ' ', false, ServerJson::error_handler_t::replace), kJson);
}

void Server::Impl::tokenize(const Asked& asked, Reply& reply) const {
  const TokenizeCall call = readTokenizeCall(asked.body);
  checkModel(call.model);
  const ServedModel& model = engine.model();
  std::vector<TokenId> tokens;
  if (call.prompt) {
    if (call.addsSpecialTokens) tokens = text::renderPieces(model.chat->opening, *model.tokenizer);
    const std::vector<TokenId> own = model.tokenizer->encode(*call.prompt);
    tokens.insert(tokens.end(), own.begin(), own.end());
  } else {
    // The tokens that a run of the conversation is given.
    PlannedCall planned = planChat({.settings = {}, .messages = call.messages}, rules, 0);
    text::ChatTemplate chat = *model.chat;
    if (!call.addsGenerationPrompt) chat.generationPrompt.clear();
    const layout::SpanTable table = layout::layoutExact(planned.plan->steps.front(), {}, *model.tokenizer,
                                                        chat, layout::Visibility::Full);
    for (const layout::Segment& segment : table.segments)
      tokens.insert(tokens.end(), segment.tokens.begin(), segment.tokens.end());
  }
  ServerJson json = {{"count", tokens.size()}, {"max_model_len", model.context}, {"tokens", tokens}};
  json["token_strs"] = nullptr;
  if (call.tellsTexts) {
    json["token_strs"] = ServerJson::array();
    for (const TokenId token : tokens) json["token_strs"].push_back(model.tokenizer->display(token));
  }
  reply.set_content(json.dump(-1, ' ', false, ServerJson::error_handler_t::replace), kJson);
}

void Server::Impl::detokenize(const Asked& asked, Reply& reply) const {
  const DetokenizeCall call = readDetokenizeCall(asked.body);
  checkModel(call.model);
  const text::Tokenizer& tokenizer = *engine.model().tokenizer;
  for (const TokenId token : call.tokens) {
    if (token >= tokenizer.vocabularySize())
      refuseField("tokens", "The model has no token " + std::to_string(token) + ".");
  }
  const ServerJson json = {{"prompt", tokenizer.decode(call.tokens)}};
  reply.set_content(json.dump(-1, ' ', false, ServerJson::error_handler_t::replace), kJson);
}

std::shared_ptr<Going> Server::Impl::begin(PlannedCall call, const ReplyHead& head, const Asked& asked) {
  if (call.plan->steps.empty()) refuseField({}, "There is nothing to generate in this request.");
  if (running.fetch_add(1) >= config.limits.requests) {
    --running;
    throw ApiFailure({.status = 429,
                      .message = "As many requests run or wait as this server takes.",
                      .type = "rate_limit_error",
                      .code = "too_many_requests"});
  }
  figures.setRequests(running);
  const std::string ofClient = keys.saltOf(asked.get_header_value("Authorization")).value_or("");
  const std::string salt = combinedSalt(ofClient, call.options.salt.value_or(""));
  call.options.salt.reset();
  if (!salt.empty()) call.options.salt = salt;
  ServedRequest about;
  about.id = head.id;
  about.endpoint = asked.path;
  about.model = call.model;
  about.client = asked.remote_addr;
  about.time = millisecondsNow();
  about.queryJson = call.options.queryJson;
  RunOrder order{.plan = call.plan, .options = call.options};
  std::shared_ptr<Served> served;
  try {
    served = std::make_shared<Served>(std::move(call), requests, std::move(about), figures, running);
  } catch (...) {
    --running;
    throw;
  }
  std::unique_ptr<RunHandle> handle = engine.begin(std::move(order), served);
  return std::make_shared<Going>(std::move(served), std::move(handle));
}

void Server::Impl::answer(PlannedCall call, const Asked& asked, Reply& reply) {
  ReplyHead head{.id = newId(call.form == AnswerForm::Chat ? "chatcmpl-" : "cmpl-"),
                 .created = millisecondsNow() / 1000,
                 .model = call.model.empty() ? engine.model().name : call.model,
                 .fingerprint = fingerprint,
                 .form = call.form};
  const bool streams = call.stream;
  std::shared_ptr<Going> going = begin(std::move(call), head, asked);
  if (streams)
    answerInPieces(std::move(going), std::move(head), reply);
  else
    answerWhole(*going, std::move(head), reply);
}

std::optional<ApiError> Server::Impl::interruption(Served& served) const {
  const Connection* const connection = currentConnection();
  if (connection != nullptr && connection->isClientGone())
    return ApiError{.status = kClientGone, .message = "The client is gone.", .type = "server_error"};
  if (Clock::now() - served.began() > config.limits.toAnswer)
    return ApiError{.status = 504,
                    .message = "The answer took longer than this server lets one take.",
                    .type = "timeout_error",
                    .code = "answer_timeout"};
  if (isHurrying) return draining();
  return std::nullopt;
}

void Server::Impl::answerWhole(Going& going, ReplyHead head, Reply& reply) {
  Served& served = going.served();
  Answer& replies = served.answer();
  WholeReply whole(std::move(head), replies.choices(), served.call().logprobs, *engine.model().tokenizer);
  while (true) {
    const Answer::News news = replies.wait(kTurn);
    for (const AnswerPiece& piece : news.pieces) whole.take(piece);
    if (news.isComplete) break;
    std::optional<ApiError> error = interruption(served);
    if (!error && news.end) error = news.end->how == RunEnd::How::Stopped ? draining() : failed(*news.end);
    if (!error) continue;
    if (error->status == kClientGone) figures.countGone();
    return refuse(reply, *error);
  }
  reply.set_content(whole.json(replies.usage()), kJson);
}

void Server::Impl::answerInPieces(std::shared_ptr<Going> going, ReplyHead head, Reply& reply) {
  Served& served = going->served();
  // What fails before anything was said is an answer of its own.
  Answer::News first;
  while (true) {
    first = served.answer().wait(kTurn);
    if (!first.pieces.empty() || first.isComplete) break;
    std::optional<ApiError> error = interruption(served);
    if (!error && first.end) error = first.end->how == RunEnd::How::Stopped ? draining() : failed(*first.end);
    if (!error) continue;
    if (error->status == kClientGone) figures.countGone();
    return refuse(reply, *error);
  }
  struct Stream {
    StreamedReply text;
    std::optional<Answer::News> news;  ///< that was taken already
    bool hasBegun = false;
    Clock::time_point last = Clock::now();
  };
  auto stream = std::make_shared<Stream>(
      Stream{.text = StreamedReply(std::move(head), served.answer().choices(), served.call().logprobs,
                                   served.call().includesUsage, *engine.model().tokenizer),
             .news = std::move(first)});
  reply.set_header("Cache-Control", "no-cache");
  reply.set_header("X-Accel-Buffering", "no");
  reply.set_chunked_content_provider(kEvents, [this, going, stream](std::size_t, httplib::DataSink& sink) {
    constexpr std::chrono::seconds kSilence{15};
    Answer& replies = going->served().answer();
    const Answer::News news = stream->news ? *std::exchange(stream->news, std::nullopt) : replies.wait(kTurn);
    std::string text;
    if (!std::exchange(stream->hasBegun, true)) text = stream->text.begin();
    for (const AnswerPiece& piece : news.pieces) text += stream->text.take(piece);
    std::optional<ApiError> error;
    if (!news.isComplete) {
      error = interruption(going->served());
      if (!error && news.end) error = news.end->how == RunEnd::How::Stopped ? draining() : failed(*news.end);
    }
    if (error && error->status == kClientGone) {
      figures.countGone();
      return false;
    }
    if (news.isComplete) text += stream->text.end(replies.usage());
    if (error) text += eventOf(errorJson(*error)) + kDone;
    // A comment, which clients pass over, shows whether anybody is still there.
    if (text.empty() && Clock::now() - stream->last > kSilence) text = ": still computing\n\n";
    if (!text.empty()) {
      stream->last = Clock::now();
      if (!sink.write(text.data(), text.size())) {
        figures.countGone();
        return false;
      }
    }
    if (news.isComplete || error) sink.done();
    return true;
  });
}

Server::Server(ServerConfig config, Engine& engine)
    : m_impl(std::make_unique<Impl>(std::move(config), engine)) {}

Server::~Server() = default;

std::string Server::url() const {
  const std::string& host = m_impl->config.host;
  const bool isBare = host.find(':') != std::string::npos && !host.starts_with("[");
  return std::string(m_impl->isSecure ? "https://" : "http://") + (isBare ? "[" + host + "]" : host) + ":" +
         std::to_string(port());
}

int Server::port() const {
  return m_impl->takenPort;
}

void Server::start() {
  m_impl->listener->start();
}

void Server::finish(const std::stop_token& hurry) {
  Impl& impl = *m_impl;
  impl.isDraining = true;
  impl.listener->closeSoon();
  const Clock::time_point until = Clock::now() + impl.config.limits.toFinish;
  while (impl.running > 0 && Clock::now() < until && !hurry.stop_requested())
    std::this_thread::sleep_for(kTurn);
  impl.isHurrying = true;
  // What was stopped still has to be told to its clients.
  constexpr milliseconds kToTell{2000};
  const Clock::time_point end = Clock::now() + kToTell;
  while (impl.running > 0 && Clock::now() < end) std::this_thread::sleep_for(kTurn);
  impl.listener->finish();
}

ServedRequests& Server::requests() {
  return m_impl->requests;
}

}  // namespace spanscope::server
