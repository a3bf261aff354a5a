// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/server.h"

#include "engine/base/ascii.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/layout/layout.h"
#include "engine/remote/server/call_bodies.h"
#include "engine/remote/server/planned_call.h"
#include "engine/remote/server/served_run.h"
#include "engine/text/tokenizer.h"

#include <httplib.h>
#include <nlohmann/json.hpp>
#include <openssl/rand.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <string_view>
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

/// Returns an unpredictable number. If the library returns no number, the clock is used.
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
  std::string id = prefix;
  for (int part = 0; part < 2; ++part) appendHex(id, randomNumber(), 12);
  return id;
}

/// Returns a short seed that the user can read and type.
std::uint64_t randomSeed() {
  return randomNumber() % 1'000'000'000;
}

/// Returns "fp_" with the beginning of a hash. The engine's name of a model is as long as its configuration.
std::string shortFingerprint(const std::string& fingerprint) {
  constexpr std::size_t kBytes = 6;
  const Sha256Value hash =
      sha256({reinterpret_cast<const std::uint8_t*>(fingerprint.data()), fingerprint.size()});
  return "fp_" + hexOf(std::span(hash).first(kBytes));
}

constexpr const char* kGetMethods = "GET, HEAD";

/// The methods of an endpoint as in the header Allow; null: the endpoint does not exist.
const char* methodsOf(std::string_view path) {
  static constexpr std::string_view kGets[] = {"/health", "/metrics", "/v1/models"};
  static constexpr std::string_view kPosts[] = {"/v1/chat/completions", "/v1/completions",
                                                "/v1/query/execute", "/tokenize", "/detokenize"};
  if (std::ranges::find(kGets, path) != std::end(kGets)) return kGetMethods;
  return std::ranges::find(kPosts, path) != std::end(kPosts) ? "POST" : nullptr;
}

bool isKnownPath(std::string_view path) {
  return methodsOf(path) != nullptr;
}

/// Suggests the path that the client probably means; may be empty.
std::string hintFor(const Asked& asked) {
  const std::string withVersion = "/v1" + asked.path;
  if (isKnownPath(withVersion))
    return " Use the path " + withVersion + ": the base address of a client must end with /v1.";
  return {};
}

/// Whether a header is a list of names of headers: "Authorization, Content-Type".
bool isNameList(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char letter) {
    return isLetter(letter) || isDigit(letter) ||
           std::string_view("-_, ").find(letter) != std::string_view::npos;
  });
}

}  // namespace

struct Server::Impl {
  Impl(ServerConfig given, Engine& behind)
      : config(std::move(given)),
        engine(behind),
        address(config),
        fingerprint(shortFingerprint(engine.model().fingerprint)),
        metrics(engine.model()),
        kvForm(engine.model().blockSize) {
    rules = {.options = config.run,
             .plan = config.plan,
             .mostTokens = config.limits.answerTokens,
             .usualTokens = engine.model().answerTokens};
    address.listener.onClients = [this](std::size_t clients) { metrics.setClients(clients); };
    address.listener.onRefusal = [this](int status) { metrics.countAnswer("other", status); };
    route();
    if (!config.kvEvents.endpoint.empty()) kvEvents = std::make_unique<KvPublisher>(config.kvEvents);
    engine.setListener([this](const trace::Event& event) {
      metrics.take(event);
      if (!kvEvents) return;
      if (std::vector<KvEvent> events = kvForm.take(event); !events.empty())
        kvEvents->publish(std::move(events));
    });
  }
  ~Impl() {
    // Handlers use the members below here.
    address.listener.finish();
    engine.setListener({});
    // Stopped runs still report their end.
    while (address.running > 0) std::this_thread::sleep_for(milliseconds(1));
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void route();
  httplib::Server::HandlerResponse check(const Asked& asked, Reply& reply);
  template <class Handle>
  httplib::Server::Handler guarded(const Handle& handle);

  bool isServed(std::string_view model) const;
  void checkModel(const std::string& model) const;
  ServerJson modelJson(const std::string& name) const;
  void listModels(Reply& reply) const;
  void describeModel(const std::string& name, Reply& reply);
  void tokenize(const Asked& asked, Reply& reply) const;
  void detokenize(const Asked& asked, Reply& reply) const;
  void execute(const Asked& asked, Reply& reply, Gate::Pass turn);
  std::shared_ptr<ServedRun> begin(PlannedCall call, const ReplyHead& head, const Asked& asked,
                                   Gate::Pass turn);
  void answer(PlannedCall call, const Asked& asked, Reply& reply, Gate::Pass turn);

  const ServerConfig config;
  Engine& engine;
  ServedAddress address;
  const std::string fingerprint;  ///< as reported to clients
  CallRules rules;
  ServerMetrics metrics;
  KvEventForm kvForm;
  std::unique_ptr<KvPublisher> kvEvents;
  const Answering answering{metrics, address, *engine.model().tokenizer};
};

/// Runs before the body is read: checks who may send requests.
httplib::Server::HandlerResponse Server::Impl::check(const Asked& asked, Reply& reply) {
  using enum httplib::Server::HandlerResponse;
  Connection& connection = *currentConnection();
  // The library changes names and values of headers. This head has the client's bytes.
  const RequestHead& head = connection.head();
  const auto deny = [&](const ApiError& error) {
    refuse(reply, error);
    // The body is unread.
    connection.closeAfterwards();
    return Handled;
  };
  try {
    address.checkOrigin(head);
    const std::string origin(head.value("origin"));
    if (!origin.empty()) {
      reply.set_header("Access-Control-Allow-Origin", origin);
      reply.set_header("Vary", "Origin");
    }
    if (asked.method == "OPTIONS" && !origin.empty()) {
      reply.set_header("Access-Control-Allow-Methods", "GET, POST");
      // Libraries for pages send further headers with each request. Any name of a header is allowed here.
      const std::string_view wanted = head.value("access-control-request-headers");
      reply.set_header("Access-Control-Allow-Headers",
                       isNameList(wanted) ? std::string(wanted) : "Authorization, Content-Type");
      reply.set_header("Access-Control-Max-Age", "600");
      reply.status = 204;
      return Handled;
    }
    if (asked.path == "/health") return Unhandled;
    address.checkKey(head);
    if (address.isDraining()) return deny(serverIsEnding());
    // A compressed body may become a thousand times as large.
    const std::string_view packing = head.value("content-encoding");
    if (!packing.empty() && packing != "identity") {
      return deny({.status = 415,
                   .message = "This server accepts no compressed bodies (Content-Encoding).",
                   .code = "unsupported_encoding"});
    }
    const std::uint64_t length = address.bodyBytes(head);
    // Each waiting request needs a thread. The other half of the threads is for small requests.
    if (length > kSmallBody &&
        address.waitingBodies() >= std::max<std::size_t>(1, config.limits.clients / 2)) {
      return deny({.status = 503,
                   .message = "Other requests use all memory for large bodies on this server.",
                   .type = "overloaded_error",
                   .code = "too_many_large_bodies"});
    }
    connection.beginBody(address.awaitBody(&connection, length));
  } catch (const ApiFailure& failure) {
    return deny(failure.error());
  }
  return Unhandled;
}

/// A handler whose failures become answers.
template <class Handle>
httplib::Server::Handler Server::Impl::guarded(const Handle& handle) {
  return [this, handle](const Asked& asked, Reply& reply) {
    try {
      if (asked.body.size() > config.limits.bodyBytes)
        throw ApiFailure(bodyTooLarge(config.limits.bodyBytes));
      currentConnection()->endBody(asked.body.size() > kSmallBody ? asked.body.size() : 0);
      handle(asked, reply, address.awaitTurn(currentConnection()));
    } catch (const ApiFailure& failure) {
      if (failure.error().status == kClientGone) metrics.countGone();
      refuse(reply, failure.error());
    } catch (const std::bad_alloc&) {
      refuse(reply, outOfMemory());
    } catch (const Failure& failure) {
      refuse(reply, {.message = failure.what()});
    } catch (const std::exception& exception) {
      refuse(reply, {.status = 500, .message = exception.what(), .type = "server_error"});
    }
  };
}

void Server::Impl::route() {
  Listener& http = address.listener;
  http.set_pre_routing_handler([this](const Asked& asked, Reply& reply) { return check(asked, reply); });
  http.set_exception_handler([this](const Asked& /*asked*/, Reply& reply, const std::exception_ptr& thrown) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      refuse(reply, outOfMemory());
    } catch (const std::exception& exception) {
      refuse(reply, {.status = 500, .message = exception.what(), .type = "server_error"});
    }
    currentConnection()->closeAfterwards();
  });
  // Refusals by the library have no body.
  http.set_error_handler([this](const Asked& asked, Reply& reply) {
    if (!reply.body.empty() || reply.content_provider_) return;
    Connection* const connection = currentConnection();
    const ReadFault fault = connection != nullptr ? connection->fault() : ReadFault::None;
    if (const std::optional<ApiError> error = errorOf(fault, config.limits))
      refuse(reply, *error);
    else if (reply.status == 413)
      refuse(reply, bodyTooLarge(config.limits.bodyBytes));
    else if (const char* methods = methodsOf(asked.path); reply.status == 404 && methods != nullptr) {
      reply.set_header("Allow", methods);
      refuse(reply, {.status = 405,
                     .message = asked.path + " takes no " + asked.method + ", only " + methods + ".",
                     .code = "method_not_allowed"});
    } else if (reply.status == 404)
      refuse(reply, {.status = 404,
                     .message = "There is no " + asked.method + " " + asked.path + " here." + hintFor(asked),
                     .code = "not_found"});
    else
      refuse(
          reply,
          {.status = reply.status, .message = "The server cannot read this request.", .code = "bad_request"});
    // After a read error, the beginning of the next request is unknown.
    if (connection != nullptr && reply.status != 404 && reply.status != 405) connection->closeAfterwards();
  });
  // The library announces ranges in answers to HEAD, but sends none.
  http.set_post_routing_handler(
      [](const Asked& /*asked*/, Reply& reply) { reply.headers.erase("Accept-Ranges"); });
  http.set_logger([this](const Asked& asked, const Reply& reply) {
    metrics.countAnswer(isKnownPath(asked.path) ? asked.path : "other", reply.status);
  });

  http.Get("/health", [this](const Asked& /*asked*/, Reply& reply) {
    if (address.isDraining()) return refuse(reply, serverIsEnding());
    reply.set_content(R"({"status":"ok"})", kJson);
  });
  http.Get("/metrics", [this](const Asked& /*asked*/, Reply& reply) {
    reply.set_content(metrics.text(), R"(text/plain; version=0.0.4; charset=utf-8)");
  });
  http.Get("/v1/models", [this](const Asked& /*asked*/, Reply& reply) { listModels(reply); });
  http.Get("/v1/models/(.+)",
           [this](const Asked& asked, Reply& reply) { describeModel(asked.matches[1].str(), reply); });
  http.Post("/tokenize", guarded([this](const Asked& asked, Reply& reply, const Gate::Pass& /*turn*/) {
              tokenize(asked, reply);
            }));
  http.Post("/detokenize", guarded([this](const Asked& asked, Reply& reply, const Gate::Pass& /*turn*/) {
              detokenize(asked, reply);
            }));
  http.Post("/v1/chat/completions", guarded([this](const Asked& asked, Reply& reply, Gate::Pass turn) {
              const ChatCall call = readChatCall(asked.body);
              checkModel(call.settings.model);
              PlannedCall planned = planChat(call, rules, randomSeed());
              planned.options.salt = call.settings.cacheSalt;
              answer(std::move(planned), asked, reply, std::move(turn));
            }));
  http.Post("/v1/completions", guarded([this](const Asked& asked, Reply& reply, Gate::Pass turn) {
              const CompletionCall call = readCompletionCall(asked.body);
              checkModel(call.settings.model);
              PlannedCall planned = planCompletion(call, rules, engine.model(), randomSeed());
              planned.options.salt = call.settings.cacheSalt;
              answer(std::move(planned), asked, reply, std::move(turn));
            }));
  http.Post("/v1/responses",
            guarded([](const Asked& /*asked*/, Reply& /*reply*/, const Gate::Pass& /*turn*/) {
              throw ApiFailure({.status = 404,
                                .message = "This server has no Responses API. Use chat completions "
                                           "(/v1/chat/completions), which keep no state.",
                                .type = "not_found_error",
                                .code = "unsupported_endpoint"});
            }));
  http.Post("/v1/query/execute", guarded([this](const Asked& asked, Reply& reply, Gate::Pass turn) {
              execute(asked, reply, std::move(turn));
            }));
}

void Server::Impl::execute(const Asked& asked, Reply& reply, Gate::Pass turn) {
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
  // SPNL's client reads every stream as a stream of completions.
  if (planned.stream) planned.form = AnswerForm::Completion;
  answer(std::move(planned), asked, reply, std::move(turn));
}

bool Server::Impl::isServed(std::string_view model) const {
  constexpr std::string_view kProvider = "spnl/";
  if (model.starts_with(kProvider)) model.remove_prefix(kProvider.size());
  const auto& names = config.names;
  return model.empty() || model == engine.model().name || std::ranges::find(names, model) != names.end() ||
         std::ranges::find(names, "*") != names.end();
}

void Server::Impl::checkModel(const std::string& model) const {
  if (isServed(model)) return;
  throw ApiFailure({.status = 404,
                    .message = "The model '" + model +
                               /*id:not-served*/ "' is not served here. The served model is '" +
                               engine.model().name + "'.",
                    .type = "not_found_error",
                    .param = "model",
                    .code = "model_not_found"});
}

ServerJson Server::Impl::modelJson(const std::string& name) const {
  return {{"id", name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "spanscope"},
          {"root", engine.model().name},
          {"parent", nullptr},
          {"max_model_len", engine.model().context}};
}

void Server::Impl::listModels(Reply& reply) const {
  ServerJson list = ServerJson::array({modelJson(engine.model().name)});
  for (const std::string& name : config.names) {
    if (name != "*" && name != engine.model().name) list.push_back(modelJson(name));
  }
  const ServerJson json = {{"object", "list"}, {"data", std::move(list)}};
  reply.set_content(compactJson(json), kJson);
}

void Server::Impl::describeModel(const std::string& name, Reply& reply) {
  try {
    checkModel(name);
  } catch (const ApiFailure& failure) {
    return refuse(reply, failure.error());
  }
  reply.set_content(compactJson(modelJson(name)), kJson);
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
    // Returns the tokens that a run of the conversation gets.
    PlannedCall planned = planChat({.settings = {}, .messages = call.messages}, rules, 0);
    text::ChatTemplate chat = *model.chat;
    if (!call.addsGenerationPrompt) chat.generationPrompt.clear();
    const layout::SpanTable table = layout::layoutExact(planned.plan->steps.front(), {}, *model.tokenizer,
                                                        chat, layout::Visibility::Full);
    for (const layout::Segment& segment : table.segments)
      tokens.insert(tokens.end(), segment.tokens.begin(), segment.tokens.end());
  }
  // The code writes text directly. A JSON tree would take many times the memory of the text.
  std::string json = "{\"count\":" + std::to_string(tokens.size()) +
                     ",\"max_model_len\":" + std::to_string(model.context) + ",\"tokens\":[";
  const auto addList = [&](const auto& textOf) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) json += ',';
      json += textOf(tokens[i]);
    }
    json += ']';
  };
  addList([](TokenId token) { return std::to_string(token); });
  json += ",\"token_strs\":";
  if (call.tellsTexts) {
    json += '[';
    addList([&](TokenId token) {
      return ServerJson(model.tokenizer->display(token))
          .dump(-1, ' ', false, ServerJson::error_handler_t::replace);
    });
  } else {
    json += "null";
  }
  json += '}';
  reply.set_header("Content-Type", kJson);
  reply.body = std::move(json);
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
  reply.set_content(compactJson(json), kJson);
}

std::shared_ptr<ServedRun> Server::Impl::begin(PlannedCall call, const ReplyHead& head, const Asked& asked,
                                               Gate::Pass turn) {
  if (call.plan->steps.empty()) refuseField({}, "This request contains nothing to generate.");
  const std::string ofClient =
      address.keys.saltOf(currentConnection()->head().value("authorization")).value_or("");
  const std::string salt = combinedSalt(ofClient, call.options.salt.value_or(""));
  // The key for readers of KV events. This key must reveal nothing about the client's key.
  const std::string extraKey = ofClient.empty() ? call.options.salt.value_or("") : shortFingerprint(salt);
  call.options.salt.reset();
  if (!salt.empty()) call.options.salt = salt;
  ServedRequest about;
  about.id = head.id;
  about.endpoint = asked.path;
  about.model = call.model;
  about.client = asked.remote_addr;
  about.time = unixMilliseconds();
  about.queryJson = call.options.queryJson;
  std::function<void(RunId)> hasBegun;
  if (kvEvents && !extraKey.empty())
    hasBegun = [this, extraKey](RunId run) { kvForm.setExtraKey(run, extraKey); };
  return std::make_shared<ServedRun>(std::move(call), std::move(turn), address.requests, std::move(about),
                                     metrics, address.running, std::move(hasBegun), engine);
}

void Server::Impl::answer(PlannedCall call, const Asked& asked, Reply& reply, Gate::Pass turn) {
  ReplyHead head{.id = newId(call.form == AnswerForm::Chat ? "chatcmpl-" : "cmpl-"),
                 .created = unixMilliseconds() / 1000,
                 .model = call.model.empty() ? engine.model().name : call.model,
                 .fingerprint = fingerprint,
                 .form = call.form};
  const bool streams = call.stream;
  std::shared_ptr<ServedRun> run = begin(std::move(call), head, asked, std::move(turn));
  if (streams)
    answerInPieces(std::move(run), std::move(head), answering, reply);
  else
    answerWhole(*run, std::move(head), answering, reply);
}

Server::Server(ServerConfig config, Engine& engine)
    : m_impl(std::make_unique<Impl>(std::move(config), engine)) {}

Server::~Server() = default;

std::string Server::url() const {
  return m_impl->address.url();
}

std::string Server::kvEvents() const {
  return m_impl->kvEvents ? m_impl->kvEvents->endpoint() : std::string();
}

std::string Server::kvEventsReplay() const {
  return m_impl->kvEvents ? m_impl->kvEvents->replayEndpoint() : std::string();
}

int Server::port() const {
  return m_impl->address.port();
}

void Server::start() {
  m_impl->address.listener.start();
}

void Server::finish(const std::stop_token& hurry) {
  m_impl->address.finish(hurry);
}

ServedRequests& Server::requests() {
  return m_impl->address.requests;
}

}  // namespace spanscope::server
