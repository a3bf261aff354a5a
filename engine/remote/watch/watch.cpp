// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/watch/watch.h"

#include "engine/remote/chat/server_facts.h"
#include "engine/remote/watch/watched_cache.h"
#include "engine/remote/watch/watched_slots.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace spanscope::watch {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick(200);
constexpr std::chrono::milliseconds kAskTime(5'000);  ///< max time of an answer about the server itself

/// Returns the sum of a counter over all its labels; nothing: there is no such counter.
std::optional<double> counterIn(std::string_view metrics, std::string_view name) {
  std::optional<double> sum;
  for (std::size_t at = metrics.find(name); at != std::string_view::npos; at = metrics.find(name, at + 1)) {
    if (at > 0 && metrics[at - 1] != '\n') continue;
    std::string_view line = metrics.substr(at + name.size());
    line = line.substr(0, line.find('\n'));
    if (line.empty() || (line.front() != '{' && line.front() != ' ')) continue;
    const std::size_t close = line.front() == '{' ? line.rfind('}') : 0;
    if (close == std::string_view::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ', close + (line.front() == '{' ? 1 : 0));
    if (begin == std::string_view::npos) continue;
    double value = 0;
    const auto read = std::from_chars(line.data() + begin, line.data() + line.size(), value);
    if (read.ec == std::errc() && std::isfinite(value)) sum = sum.value_or(0) + value;
  }
  return sum;
}

struct TotalNames {
  std::string_view prompt;
  std::string_view cached;
  bool excludesCached = false;  ///< whether the first counter leaves out cached tokens
};

constexpr std::array kTotalNames{
    TotalNames{"vllm:prefix_cache_queries_total", "vllm:prefix_cache_hits_total"},
    TotalNames{"vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_hits_total"},
    TotalNames{"sglang:prompt_tokens_total", "sglang:cached_tokens_total"},
    TotalNames{"llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total", true},
    TotalNames{"spanscope_prompt_tokens_total", "spanscope_prompt_tokens_cached_total"},
};

}  // namespace

std::optional<TokenTotals> totalsIn(const std::string& metrics) {
  constexpr double kMost = 9e15;
  for (const TotalNames& names : kTotalNames) {
    const std::optional<double> prompt = counterIn(metrics, names.prompt);
    const std::optional<double> cached = counterIn(metrics, names.cached);
    if (!prompt || !cached || *prompt < 0 || *cached < 0 || *prompt > kMost || *cached > kMost) continue;
    return TokenTotals{.prompt = static_cast<std::int64_t>(*prompt + (names.excludesCached ? *cached : 0)),
                       .cached = static_cast<std::int64_t>(*cached)};
  }
  return std::nullopt;
}

struct Watch::Impl {
  /// Passes the messages of one publisher on.
  class Feed final : public SubscriberListener {
   public:
    Feed(Impl& owner, std::size_t publisher) : m_owner(owner), m_publisher(publisher) {}

    void received(std::uint64_t /*number*/, const server::KvBatch& batch) override {
      withCache(
          [&](WatchedCache& cache, std::int64_t now) {
            ++m_owner.state.messages;
            m_owner.state.events += batch.events.size();
            cache.take(m_publisher, batch, now);
          },
          batch.time);
    }
    void startedLate(std::uint64_t /*first*/) override {
      withCache([&](WatchedCache& cache, std::int64_t now) { cache.startLate(m_publisher, now); });
    }
    void gapBegan(std::uint64_t missing) override {
      withCache([&](WatchedCache& cache, std::int64_t now) {
        ++m_owner.state.gaps;
        cache.beginGap(m_publisher, missing, now);
      });
    }
    void gapEnded(bool isFilled) override {
      withCache([&](WatchedCache& cache, std::int64_t now) {
        if (!isFilled) ++m_owner.state.lost;
        cache.endGap(m_publisher, isFilled, now);
      });
    }
    void restarted() override {
      withCache([&](WatchedCache& cache, std::int64_t now) { cache.restart(m_publisher, now); });
    }
    void refused(const Error& error) override {
      withCache([&](WatchedCache& cache, std::int64_t now) {
        m_owner.state.problem = error.message();
        cache.say(Severity::Warning, error.message(), now);
      });
    }

   private:
    /// `time`: of a message; nothing: the change happens now.
    void withCache(const std::function<void(WatchedCache&, std::int64_t)>& change,
                   std::optional<double> time = {}) {
      const std::lock_guard lock(m_owner.mutex);
      if (time) m_owner.config.clock->hold(*time);
      try {
        change(*m_owner.cache, m_owner.now());
      } catch (const Failure& failure) {
        m_owner.state.problem = failure.what();
      }
      m_owner.config.clock->release();
    }

    Impl& m_owner;
    std::size_t m_publisher;
  };

  Impl(WatchConfig given, trace::Sink& to) : config(std::move(given)), sink(to) {
    if (config.url.empty() && config.publishers.empty())
      throw Failure(errorAt("watch", "no server", "the address of a server, or an endpoint of KV events"));
    if (!config.url.empty()) {
      const auto address = remote::readServerAddress(config.url);
      if (const auto* error = std::get_if<Error>(&address)) throw Failure(*error);
    }
    // A wrong endpoint is an error of the caller, before any event.
    for (const SubscriberConfig& publisher : config.publishers) checkEndpoints(publisher);
    thread = std::jthread([this](const std::stop_token& stop) { work(stop); });
  }

  static void checkEndpoints(const SubscriberConfig& publisher) {
    const auto check = [](const std::string& endpoint) {
      if (!endpoint.starts_with("tcp://") && !endpoint.starts_with("ipc://"))
        throw Failure(errorAt("endpoint of KV events", endpoint, "tcp://HOST:PORT or ipc://FILE"));
    };
    check(publisher.endpoint);
    if (!publisher.replayEndpoint.empty()) check(publisher.replayEndpoint);
  }

  /// The time of the trace, which never goes back. The mutex must be locked.
  std::int64_t now() { return lastNow = std::max(lastNow, config.clock->now()); }
  void work(const std::stop_token& stop);
  std::optional<remote::ServerFacts> ask(const std::stop_token& stop);
  std::optional<std::string> get(const char* path, const std::stop_token& stop, bool* isLost = nullptr);
  void openCache(const std::optional<remote::ServerFacts>& facts, bool counts);
  bool openSlots(const remote::ServerFacts& facts, const std::stop_token& stop);
  void loop(bool counts, const std::stop_token& stop);
  void note(const std::string& problem);
  std::function<std::string(TokenId)> shower() const;
  std::string addressText() const {
    return config.url.empty() ? config.publishers.front().endpoint : remote::rootOf(config.url);
  }

  WatchConfig config;
  trace::Sink& sink;
  remote::HttpClient client;
  mutable std::mutex mutex;  ///< guards the next members
  std::int64_t lastNow = 0;
  std::unique_ptr<WatchedCache> cache;
  std::unique_ptr<WatchedSlots> slots;
  WatchState state;
  std::vector<std::unique_ptr<Feed>> feeds;
  std::vector<std::unique_ptr<EventSubscriber>> subscribers;
  std::condition_variable_any wake;
  std::jthread thread;
};

void Watch::Impl::note(const std::string& problem) {
  const std::lock_guard lock(mutex);
  state.problem = problem;
}

std::function<std::string(TokenId)> Watch::Impl::shower() const {
  if (!config.tokenizer) return nullptr;
  return [tokenizer = config.tokenizer](TokenId token) {
    if (token < 0 || token >= tokenizer->vocabularySize()) return "#" + std::to_string(token);
    return tokenizer->display(token);
  };
}

std::optional<remote::ServerFacts> Watch::Impl::ask(const std::stop_token& stop) {
  if (config.url.empty()) return std::nullopt;
  remote::HttpAccess access = config.access;
  access.limits.firstByte = std::min(access.limits.firstByte, kAskTime);
  try {
    return remote::askServer(client, config.url, access, stop);
  } catch (const Failure& failure) {
    note(failure.what());
    return std::nullopt;
  }
}

/// Returns the answer of a path; nothing: there is none, and the problem is noted. `isLost`: whether no
/// server has accepted the request. A busy server accepts requests, and answers late.
std::optional<std::string> Watch::Impl::get(const char* path, const std::stop_token& stop, bool* isLost) {
  remote::HttpAccess access = config.access;
  access.limits.firstByte = std::min(access.limits.firstByte, kAskTime);
  const std::string url = remote::rootOf(config.url) + path;
  try {
    remote::HttpReply reply = client.send({.url = url}, access, stop);
    if (reply.isStopped) return std::nullopt;
    if (reply.status == 200 && reply.brokenBy.empty()) {
      const std::lock_guard lock(mutex);
      state.problem.clear();
      return std::move(reply.body);
    }
    note(url + ": The server answered with status " + std::to_string(reply.status) + ", not 200");
  } catch (const Failure& failure) {
    // The error of a late answer names a place in the answer.
    if (isLost != nullptr) *isLost = failure.error().place.empty();
    note(failure.what());
  }
  return std::nullopt;
}

void Watch::Impl::openCache(const std::optional<remote::ServerFacts>& facts, bool counts) {
  WatchedServer server{.program = "Server", .address = addressText(), .model = config.model};
  if (facts) {
    server.program = remote::infoOf(facts->kind).title;
    if (!facts->version.empty()) server.program += " " + facts->version;
    if (server.model.empty() && !facts->models.empty()) server.model = facts->models.front().name;
    constexpr std::int64_t kMostBlockSize = std::int64_t{1} << 20U;
    const std::int64_t size = facts->cache.blockSize.value_or(0);
    if (size > 0 && size <= kMostBlockSize) {
      server.blockSize = static_cast<std::int32_t>(size);
      server.blocks = facts->cache.cacheTokens.value_or(0) / size;
    }
  }
  server.hasBlocks = !config.publishers.empty();
  server.countsTokens = counts;
  const std::lock_guard lock(mutex);
  state.server = server.program;
  const std::string text = "Watching " + server.program + " at " + server.address;
  cache = std::make_unique<WatchedCache>(sink, std::move(server), shower());
  cache->say(Severity::Note, text, now());
}

bool Watch::Impl::openSlots(const remote::ServerFacts& facts, const std::stop_token& stop) {
  const std::optional<std::string> answer = get("/slots", stop);
  if (!answer) return false;
  try {
    const std::vector<SlotReport> first = readSlots(*answer);
    if (first.empty()) throw Failure(errorAt("/slots", "no slots", "at least one slot"));
    std::string program = remote::infoOf(facts.kind).title;
    if (!facts.version.empty()) program += " " + facts.version;
    const std::lock_guard lock(mutex);
    state.server = program;
    slots = std::make_unique<WatchedSlots>(
        sink,
        WatchedServer{.program = program,
                      .address = addressText(),
                      .model = !config.model.empty()  ? config.model
                               : facts.models.empty() ? std::string()
                                                      : facts.models.front().name,
                      .countsTokens = true},
        first);
    slots->say(Severity::Note, "Watching " + program + " at " + addressText(), now());
    return true;
  } catch (const Failure& failure) {
    note(failure.what());
    return false;
  }
}

void Watch::Impl::work(const std::stop_token& stop) {
  const std::optional<remote::ServerFacts> facts = ask(stop);
  if (stop.stop_requested()) return;
  const bool hasSlots = facts && facts->kind == remote::ServerKind::LlamaCpp && config.publishers.empty() &&
                        openSlots(*facts, stop);
  bool counts = false;
  if (facts && !hasSlots) {
    const std::optional<std::string> metrics = get("/metrics", stop);
    counts = metrics && totalsIn(*metrics);
    if (metrics && !counts)
      note(addressText() +
           "/metrics: The server reports no counters of cached tokens, so totals of cached tokens are not "
           "shown");
  }
  if (!hasSlots) {
    if (config.publishers.empty() && !counts) {
      const std::lock_guard lock(mutex);
      state.hasEnded = true;
      return;
    }
    openCache(facts, counts);
    for (std::size_t i = 0; i < config.publishers.size(); ++i) {
      feeds.push_back(std::make_unique<Feed>(*this, i));
      try {
        subscribers.push_back(std::make_unique<EventSubscriber>(config.publishers[i], *feeds.back()));
      } catch (const Failure& failure) {
        note(failure.what());
      }
    }
  }
  loop(counts || hasSlots, stop);
  subscribers.clear();
  const std::lock_guard lock(mutex);
  if (cache) cache->end(now());
  if (slots) slots->end(now());
}

void Watch::Impl::loop(bool counts, const std::stop_token& stop) {
  Clock::time_point nextMetrics = Clock::now();
  const auto tick = slots ? config.slotsPeriod : kTick;
  while (!stop.stop_requested()) {
    if (slots) {
      bool isLost = false;
      if (const std::optional<std::string> answer = get("/slots", stop, &isLost)) {
        const std::lock_guard lock(mutex);
        try {
          slots->take(readSlots(*answer), now());
        } catch (const Failure& failure) {
          state.problem = failure.what();
        }
      } else if (isLost) {
        const std::lock_guard lock(mutex);
        slots->lose("The connection to the server is lost.", now());
      }
    }
    if (counts && Clock::now() >= nextMetrics) {
      nextMetrics = Clock::now() + config.metricsPeriod;
      const std::optional<std::string> metrics = get("/metrics", stop);
      const std::optional<TokenTotals> totals = metrics ? totalsIn(*metrics) : std::nullopt;
      const std::lock_guard lock(mutex);
      if (totals && cache) cache->count(*totals, now());
      if (totals && slots) slots->count(*totals, now());
      if (totals) state.tokens = cache ? cache->countedTokens() : slots->countedTokens();
    }
    std::unique_lock lock(mutex);
    if (cache) cache->tick(now());
    if (slots) slots->tick(now());
    wake.wait_for(lock, stop, tick, [] { return false; });
  }
}

trace::RecorderOptions recorderOptions(const WatchConfig& config) {
  return {.clock = [clock = config.clock] { return clock->now(); }};
}

Watch::Watch(WatchConfig config, trace::Sink& sink)
    : m_impl(std::make_unique<Impl>(std::move(config), sink)) {}

Watch::~Watch() = default;

WatchState Watch::state() const {
  const std::lock_guard lock(m_impl->mutex);
  WatchState state = m_impl->state;
  if (m_impl->cache) {
    for (const WatchedLane& lane : m_impl->cache->lanes()) {
      if (lane.medium == server::kDeviceMedium) state.cached += lane.blocks;
    }
    state.unknown = m_impl->cache->unknownBlocks();
  }
  if (m_impl->slots) state.tasks = m_impl->slots->tasks();
  return state;
}

}  // namespace spanscope::watch
