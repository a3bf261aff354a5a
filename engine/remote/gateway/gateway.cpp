// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/gateway.h"

#include "engine/base/ascii.h"
#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/remote/gateway/passage.h"
#include "engine/remote/gateway/passed_call.h"
#include "engine/remote/gateway/passed_run.h"
#include "engine/remote/gateway/query_call.h"
#include "engine/remote/gateway/upstreams.h"
#include "engine/workbench/servers/cache_order.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>

namespace spanscope::gateway {

namespace {

using server::ApiError;
using server::ApiFailure;
using server::Connection;
using server::Gate;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// Returns the key of a bearer token; empty: there is none.
std::string keyIn(std::string_view authorization) {
  constexpr std::string_view kBearer = "bearer ";
  if (inSmallLetters(authorization.substr(0, kBearer.size())) != kBearer) return {};
  return std::string(authorization.substr(kBearer.size()));
}

/// Passes the bytes of a request without a run.
class NoWatcher final : public PassageWatcher {
 public:
  void sent() override {}
  void begun(const UpstreamHead& /*head*/) override {}
  void came(std::string_view /*content*/) override {}
};

}  // namespace

struct Gateway::Impl {
  explicit Impl(GatewayConfig given)
      : config(std::move(given)),
        address(config),
        book{.tokenizer = config.tokenizer,
             .chat = *config.chat,
             .requests = address.requests,
             .program = config.program,
             .model = config.model,
             .tokenBytes = config.tokenBytes,
             .log = config.keepsTexts ? config.log : std::function<void(const std::string&)>()} {
    if (config.upstreams.empty()) throw Failure(errorAt("upstream servers", "none", "at least one"));
    book.lastRun = config.lastRun;
    book.lastRequest = config.lastRequest;
    std::set<std::string> names;
    for (const UpstreamConfig& upstream : config.upstreams) {
      if (!names.insert(upstream.name).second)
        throw Failure(errorAt("upstream servers", "two servers with the name \"" + upstream.name + "\"",
                              "different names"));
      upstreams.push_back(std::make_unique<Upstream>(upstream, book));
      if (!config.keepsTexts) {
        upstreams.back()->trace().recorder()->addRedaction(
            [](trace::Event& event) { event = server::withoutTexts(std::move(event)); });
      }
    }
    address.listener.onRequest = [this](Connection& client, const std::string& head) {
      return handle(client, head);
    };
  }
  ~Impl() {
    address.hurryUp();
    address.listener.finish();
    asking.request_stop();
    if (asking.joinable()) asking.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  bool handle(Connection& client, const std::string& head);
  bool refuse(Connection& client, const ApiError& error, bool closes) const;
  bool passOn(Connection& client, PassedRequest request);
  bool answerQuery(Connection& client, const PassedRequest& request);
  server::ServedRequest aboutOf(const Connection& client) const;
  void askUpstreams(const std::stop_token& stop);

  const GatewayConfig config;
  server::ServedAddress address;
  RunBook book;
  std::vector<std::unique_ptr<Upstream>> upstreams;
  std::mutex routing;  ///< of inTurn()
  std::mutex factsMutex;
  std::condition_variable factsChanged;
  std::jthread asking;
};

bool Gateway::Impl::refuse(Connection& client, const ApiError& error, bool closes) const {
  return client.writeAll(server::responseOf(error, closes)) && !closes;
}

/// Returns whether the connection can get another request.
bool Gateway::Impl::handle(Connection& client, const std::string& headText) {
  const server::RequestHead& head = client.head();
  bool isBodyRead = !head.hasBody();
  try {
    address.checkOrigin(head);
    address.checkKey(head);
    if (address.isDraining()) throw ApiFailure(server::serverIsEnding());
    client.beginBody(address.awaitBody(&client, address.bodyBytes(head)));
    PassedRequest request{.head = headText, .bodyBytes = {}, .body = {}};
    // The listener answers with the reason.
    if (!readBody(client, config.limits.bodyBytes, request)) {
      if (const std::optional<ApiError> error = server::errorOf(client.fault(), config.limits))
        throw ApiFailure(*error);
      return false;
    }
    isBodyRead = true;
    const Gate::Pass turn = address.awaitTurn(&client);
    ++address.running;
    const std::shared_ptr<void> atEnd(nullptr, [this](void*) { --address.running; });
    const bool isQuery = callKindOf(head.method, head.target) == CallKind::Query;
    const bool takesQueries = std::ranges::any_of(
        upstreams, [](const auto& upstream) { return upstream->trace().facts().takes("spnl"); });
    return isQuery && !takesQueries ? answerQuery(client, request) : passOn(client, std::move(request));
  } catch (const ApiFailure& failure) {
    if (failure.error().status == server::kClientGone || client.hasWritten()) return false;
    return refuse(client, failure.error(), !isBodyRead || client.closes());
  } catch (const std::bad_alloc&) {
    return !client.hasWritten() && refuse(client, server::outOfMemory(), true);
  } catch (const std::exception& exception) {
    return !client.hasWritten() &&
           refuse(client, {.status = 500, .message = exception.what(), .type = "server_error"}, true);
  }
}

server::ServedRequest Gateway::Impl::aboutOf(const Connection& client) const {
  server::ServedRequest about;
  const std::string& target = client.head().target;
  about.endpoint = target.substr(0, target.find('?'));
  about.time = unixMilliseconds();
  int port = 0;
  client.get_remote_ip_and_port(about.client, port);
  return about;
}

bool Gateway::Impl::passOn(Connection& client, PassedRequest request) {
  const server::RequestHead& head = client.head();
  const CallKind kind = callKindOf(head.method, head.target);
  const bool isCall = kind == CallKind::Chat || kind == CallKind::Completion;
  // A plain request to the only server is read after it was sent.
  const bool isMarked = kind == CallKind::Chat && request.body.find("\"spanscope\"") != std::string::npos;
  const bool isReadFirst = isCall && (isMarked || upstreams.size() > 1);
  PassedCall call;
  std::optional<PassedPrompt> written;
  // A request that no server gets is a run, too.
  const auto record = [&](Upstream& upstream, PassedCall refused, const std::string& problem) {
    PassedRun(book, upstream.trace(), std::move(refused), request.body, std::nullopt, std::nullopt,
              aboutOf(client), {})
        .end({.how = PassageEnd::How::UpstreamBroke, .problem = problem});
  };
  if (isReadFirst) {
    try {
      call = readPassedCall(kind, request.body);
    } catch (const ApiFailure& failure) {
      record(*upstreams.front(), readPassedCall(kind, bodyInOrder(request.body, {})),
             failure.error().message);
      throw;
    }
    if (upstreams.size() > 1) written = promptOf(call, book);
  }
  Turn turn = inTurn(upstreams, call.request.model, written ? written->tokens : std::vector<TokenId>(),
                     config.mostAhead, routing);
  const std::string clientKey = keyIn(head.value("authorization"));
  const Clock::time_point began = Clock::now();
  const std::string sentBody = call.isMarked ? request.body : std::string();
  std::string problems;
  for (Upstream* const upstream : turn.upstreams) {
    std::shared_ptr<Upstream::Running> isRunning = std::exchange(turn.reserved, nullptr);
    if (!isRunning) isRunning = std::make_shared<Upstream::Running>(*upstream);
    std::unique_ptr<UpstreamLink> link;
    try {
      link = upstream->link();
    } catch (const Failure& failure) {
      upstream->failed(failure.error().found);
      problems += (problems.empty() ? "" : "; ") + upstream->config().name + ": " + failure.error().found;
      continue;
    }
    PassageRules rules{.limits = upstream->config().access.limits,
                       .upstream = upstream->config().name,
                       .isHead = head.method == "HEAD",
                       .closes = client.closes()};
    rules.interruption = [&] { return address.interruption(&client, began); };
    std::optional<remote::SentOrder> order;
    if (call.isMarked) {
      PassedCall sent = call;
      if (sent.unknownPrompt.empty()) order = putInOrderFor(*upstream, sent.request, book);
      request.body = bodyInOrder(sentBody, order.value_or(remote::SentOrder()));
      request.isChanged = true;
      if (order) rules.extraLines.push_back("X-Spanscope-Order: " + remote::orderText(*order));
      if (order) written = promptOf(sent, book);
    }
    const std::string key =
        config.keys.empty() && !clientKey.empty() ? clientKey : upstream->config().access.key;
    const std::string bytes = bytesFor(request, head,
                                       {.host = upstream->host(),
                                        .target = upstream->targetOf(head.target),
                                        .key = upstream->config().access.key,
                                        .passesKey = config.keys.empty()});
    const auto passWith = [&](PassageWatcher& watcher) {
      try {
        return pass(client, *link, bytes, rules, watcher);
      } catch (const StaleLink&) {
        link = upstream->link(false);
        return pass(client, *link, bytes, rules, watcher);
      }
    };
    const auto fail = [&](const Failure& failure) {
      const std::string problem = remote::withoutKey(failure.error().found, key);
      upstream->failed(problem);
      return brokenAnswer(upstream->config().name, problem);
    };
    PassageEnd end;
    if (isCall) {
      if (!isReadFirst) call = readPassedCall(kind, request.body);
      PassedRun run(book, upstream->trace(), std::move(call), request.body, std::move(written),
                    std::move(order), aboutOf(client), key);
      try {
        end = passWith(run);
      } catch (const Failure& failure) {
        const ApiError error = fail(failure);
        run.end({.how = PassageEnd::How::UpstreamBroke, .problem = error.message});
        throw ApiFailure(error);
      } catch (const ApiFailure& failure) {
        run.end({.how = PassageEnd::How::Interrupted, .problem = failure.error().message});
        throw;
      }
      run.end(end);
    } else {
      NoWatcher watcher;
      try {
        end = passWith(watcher);
      } catch (const Failure& failure) {
        throw ApiFailure(fail(failure));
      }
    }
    if (end.how == PassageEnd::How::UpstreamBroke)
      upstream->failed(end.problem);
    else if (end.how == PassageEnd::How::Answered) {
      upstream->succeeded();
      if (config.keys.empty()) upstream->offerKey(clientKey);
    }
    if (end.keepsUpstream) upstream->keep(std::move(link));
    return end.keepsClient && !client.closes();
  }
  const std::string unreachable = upstreams.size() == 1
                                      ? "The upstream server cannot be reached: " + problems + "."
                                      : "No upstream server can be reached: " + problems + ".";
  if (isCall) {
    if (!isReadFirst) call = readPassedCall(kind, request.body);
    record(*turn.upstreams.front(), std::move(call), unreachable);
  }
  throw ApiFailure(
      {.status = 502, .message = unreachable, .type = "upstream_error", .code = "upstream_unreachable"});
}

bool Gateway::Impl::answerQuery(Connection& client, const PassedRequest& request) {
  const Clock::time_point began = Clock::now();
  return answerSpanQuery({.client = client,
                          .body = request.body,
                          .clientKey = config.keys.empty() ? keyIn(client.head().value("authorization")) : "",
                          .about = aboutOf(client),
                          .mostAhead = config.mostAhead,
                          .routing = routing,
                          .interruption = [&] { return address.interruption(&client, began); }},
                         upstreams, book);
}

void Gateway::Impl::askUpstreams(const std::stop_token& stop) {
  constexpr milliseconds kPeriod{100};
  while (!stop.stop_requested()) {
    for (const auto& upstream : upstreams) {
      if (!upstream->isDueToAsk()) continue;
      upstream->ask(stop);
      factsChanged.notify_all();
    }
    std::unique_lock lock(factsMutex);
    std::condition_variable_any wake;
    wake.wait_for(lock, stop, kPeriod, [] { return false; });
  }
}

std::string recordingOf(const std::string& path, std::size_t server) {
  if (server == 0) return path;
  const std::filesystem::path own(path);
  const std::string name = own.stem().string() + "-" + std::to_string(server + 1) + own.extension().string();
  return (own.parent_path() / name).string();
}

Gateway::Gateway(GatewayConfig config) : m_impl(std::make_unique<Impl>(std::move(config))) {}
Gateway::~Gateway() = default;

std::string Gateway::url() const {
  return m_impl->address.url();
}

int Gateway::port() const {
  return m_impl->address.port();
}

void Gateway::start() {
  m_impl->asking =
      std::jthread([impl = m_impl.get()](const std::stop_token& stop) { impl->askUpstreams(stop); });
  m_impl->address.listener.start();
}

bool Gateway::awaitFacts(milliseconds most) {
  const auto areKnown = [this] {
    return std::ranges::all_of(m_impl->upstreams, [](const auto& each) { return each->state().isKnown; });
  };
  const Clock::time_point until = Clock::now() + most;
  constexpr milliseconds kTurn{20};
  std::unique_lock lock(m_impl->factsMutex);
  while (!areKnown() && Clock::now() < until) m_impl->factsChanged.wait_for(lock, kTurn);
  return areKnown();
}

void Gateway::finish(const std::stop_token& hurry) {
  m_impl->address.finish(hurry);
  m_impl->asking.request_stop();
  if (m_impl->asking.joinable()) m_impl->asking.join();
}

server::ServedRequests& Gateway::requests() {
  return m_impl->address.requests;
}

std::vector<std::shared_ptr<trace::Recorder>> Gateway::recorders() const {
  std::vector<std::shared_ptr<trace::Recorder>> recorders;
  for (const auto& upstream : m_impl->upstreams) recorders.push_back(upstream->trace().recorder());
  return recorders;
}

std::vector<UpstreamState> Gateway::upstreams() const {
  std::vector<UpstreamState> states;
  for (const auto& upstream : m_impl->upstreams) states.push_back(upstream->state());
  return states;
}

}  // namespace spanscope::gateway
