// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/upstream_cache.h"

#include "engine/workbench/servers/cache_order.h"
#include "engine/workbench/servers/simulator_prediction.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace spanscope::gateway {

namespace {

constexpr std::int64_t kMostTreeTokens = std::int64_t{1} << 22U;
constexpr std::int64_t kUnknownBlocks = std::int64_t{1} << 16U;
constexpr std::int64_t kMostTracedBlocks = std::int64_t{1} << 17U;
/// Evicted contents are kept up to this number, so that memory does not grow.
constexpr std::size_t kMostRemoved = std::size_t{1} << 17U;
/// The operations that can still be dropped have at most this number of tokens, so that memory does not grow.
constexpr std::size_t kMostOpenTokens = std::size_t{1} << 22U;

}  // namespace

/// Sends the events of the cache to a sink, and keeps no event. Requests are served one after another.
class UpstreamCache::Reporter final : public simulator::CacheEvents {
 public:
  Reporter(const simulator::CacheShape& shape, trace::Sink& sink) : CacheEvents(shape), m_sink(sink) {}

  trace::PoolState pool() const { return emptyPool(static_cast<std::size_t>(shape().blocks) + 1); }
  /// Emits no events.
  void mute() { m_isMuted = true; }
  /// Emits events again. The blocks of the sink are those of `before`.
  void unmute(const Reporter& before, const simulator::TracedRequest& about) {
    m_isMuted = false;
    emitChanges(before, about);
  }
  /// The request of the next events. `isPrompt`: false for the answer of a request, which has no lookups.
  void follow(simulator::TracedRequest request, bool isPrompt) {
    m_request = std::move(request);
    m_isPrompt = isPrompt;
    forgetRemoved(kMostRemoved);
  }

  void lookedUp(const std::string& request, const simulator::PromptLookup& lookup) override {
    if (m_isPrompt) CacheEvents::lookedUp(request, lookup);
  }
  void admitted(const std::string& request) override {
    if (m_isPrompt) CacheEvents::admitted(request);
  }
  /// The server decides whether it refuses a request.
  void refused(const std::string& /*request*/) override {
    emitEvent(m_request, trace::MessageLogged{.severity = Severity::Warning,
                                              .text = simulator::fateSentence(simulator::Fate::TooLittle)});
  }
  void sampled(const std::string& /*request*/, TokenId /*token*/) override {}
  std::uint64_t emitEvent(const simulator::TracedRequest& about, trace::Payload payload) override {
    return m_isMuted ? 0 : m_sink.send(about.run, about.request, about.node, std::move(payload));
  }

 private:
  const simulator::TracedRequest& of(const std::string& /*name*/) const override { return m_request; }

  trace::Sink& m_sink;
  simulator::TracedRequest m_request;
  bool m_isPrompt = true;
  bool m_isMuted = false;
};

UpstreamCache::Contents::Contents() = default;
UpstreamCache::Contents::Contents(Contents&&) noexcept = default;
UpstreamCache::Contents& UpstreamCache::Contents::operator=(Contents&&) noexcept = default;
UpstreamCache::Contents::~Contents() = default;

UpstreamCache::Contents UpstreamCache::Contents::copy() const {
  Contents made;
  if (simulator != nullptr) made.simulator = simulator->copy();
  if (reporter != nullptr) made.reporter = std::make_unique<Reporter>(*reporter);
  return made;
}

UpstreamCache::UpstreamCache(trace::Sink& sink) : m_sink(sink) {
  use({});
}

UpstreamCache::~UpstreamCache() = default;

void UpstreamCache::use(const remote::ServerFacts& facts) {
  const std::lock_guard lock(m_mutex);
  const bool isAsBefore = m_now.simulator != nullptr && m_facts.kind == facts.kind &&
                          m_facts.version == facts.version && m_facts.slots == facts.slots &&
                          m_facts.cache == facts.cache;
  if (isAsBefore) return;
  m_facts = facts;
  m_kind = simulator::findServer(remote::infoOf(facts.kind).name);
  workbench::SimulatorSetup setup = m_kind == nullptr
                                        ? workbench::SimulatorSetup()
                                        : workbench::simulatorSetup(facts.kind, facts.slots, facts.cache);
  m_now = {};
  m_settled = {};
  m_operations.clear();
  m_tokens = 0;
  m_running.clear();
  // A running session continues with the empty cache of the new settings.
  const std::shared_ptr<void> atEnd(nullptr, [this](void*) {
    if (m_hasStarted) m_sink.send(0, 0, {}, trace::Snapshot{.pool = pool()});
  });
  // A server with span support reuses each child at any place. Its cache has no simulator.
  const bool hasNone = facts.kind == remote::ServerKind::Spanscope || facts.kind == remote::ServerKind::Spnl;
  if (hasNone || !setup.problem.empty()) return;
  if (m_kind == nullptr) {
    // The rules of the server are not known. SGLang's cache is a tree of all prompts.
    setup.settings.cacheTokens = kMostTreeTokens;
    m_now.simulator = simulator::kSglang.open(setup.settings);
  } else {
    m_now.simulator = m_kind->open(setup.settings);
    if (m_now.simulator->shape().blocks == 0) {
      // The server does not report the size of its cache. A limit keeps the memory of the gateway small.
      setup.settings.cacheTokens = kUnknownBlocks * m_now.simulator->shape().blockSize;
      m_now.simulator = m_kind->open(setup.settings);
    }
    m_setup = m_kind->setup(setup.settings);
    // A trace of a larger pool would take too long to read.
    if (m_now.simulator->shape().blocks <= kMostTracedBlocks)
      m_now.reporter = std::make_unique<Reporter>(m_now.simulator->shape(), m_sink);
  }
  m_settled = m_now.copy();
  if (m_settled.reporter != nullptr) m_settled.reporter->mute();
}

std::string UpstreamCache::title() const {
  const std::lock_guard lock(m_mutex);
  return m_kind == nullptr || m_now.simulator == nullptr
             ? std::string()
             : workbench::simulatorTitle(*m_kind, m_facts.version);
}

void UpstreamCache::startSession(const std::string& program, const std::string& model,
                                 const std::string& server) {
  const std::lock_guard lock(m_mutex);
  if (std::exchange(m_hasStarted, true)) return;
  trace::SessionStarted started{.program = program, .model = model, .backend = server, .pool = pool()};
  if (m_now.reporter != nullptr)
    started.backend += "; blocks by the cache simulator of " +
                       workbench::simulatorTitle(*m_kind, m_facts.version) + ", " + m_setup;
  m_sink.send(0, 0, {}, std::move(started));
}

trace::PoolState UpstreamCache::pool() const {
  return m_now.reporter == nullptr ? trace::PoolState() : m_now.reporter->pool();
}

std::int64_t UpstreamCache::cached(std::span<const TokenId> prompt) {
  const std::lock_guard lock(m_mutex);
  if (m_now.simulator == nullptr || prompt.empty()) return 0;
  serveUpTo(m_last);
  return m_now.simulator->cachedBeginnings()(prompt.first(prompt.size() - 1));
}

std::optional<simulator::ChosenOrder> UpstreamCache::order(const simulator::PromptPart& prompt) {
  const std::lock_guard lock(m_mutex);
  if (m_now.simulator == nullptr) return std::nullopt;
  serveUpTo(m_last);
  return simulator::chooseOrder(prompt, m_now.simulator->cachedBeginnings(), m_counts,
                                workbench::orderRules(*m_now.simulator));
}

void UpstreamCache::count(const simulator::PromptPart& prompt) {
  const std::lock_guard lock(m_mutex);
  m_counts.add(prompt);
}

std::uint64_t UpstreamCache::begin(std::span<const TokenId> prompt, const simulator::TracedRequest& about) {
  const std::lock_guard lock(m_mutex);
  if (m_now.simulator == nullptr || prompt.empty()) return 0;
  serveUpTo(m_last);
  m_operations.push_back({.number = ++m_last,
                          .about = about,
                          .tokens = {prompt.begin(), prompt.end()},
                          .isBeside = !m_running.empty()});
  m_tokens += prompt.size();
  m_running.emplace(m_last, Running{.about = about});
  return m_last;
}

void UpstreamCache::serve(std::uint64_t number) {
  const std::lock_guard lock(m_mutex);
  serveUpTo(number);
}

std::optional<CachePrediction> UpstreamCache::end(std::uint64_t number, std::span<const TokenId> sequence) {
  const std::lock_guard lock(m_mutex);
  serveUpTo(m_last);
  const auto running = m_running.extract(number);
  if (running.empty()) return std::nullopt;
  CachePrediction prediction{.answer = running.mapped().answer, .isOfServer = m_kind != nullptr};
  const auto prompt = std::ranges::find(m_operations, number, &Operation::number);
  if (prompt != m_operations.end()) prompt->isSettled = true;
  if (!sequence.empty()) {
    m_operations.push_back({.number = number,
                            .about = running.mapped().about,
                            .tokens = {sequence.begin(), sequence.end()},
                            .isPrompt = false,
                            .isServed = true,
                            .isSettled = true});
    m_tokens += sequence.size();
    apply(m_operations.back(), m_now);
  }
  settle();
  return prediction;
}

void UpstreamCache::drop(std::uint64_t number) {
  const std::lock_guard lock(m_mutex);
  if (!m_running.contains(number)) return;
  // Only the rules of servers with slots depend on a refused prompt.
  if (!m_now.simulator->room()) serveUpTo(number);
  const bool isRefused = m_running.extract(number).mapped().answer.isRefused;
  const auto dropped = std::ranges::find(m_operations, number, &Operation::number);
  if (dropped == m_operations.end()) return;  // settled, because too many operations were open
  if (isRefused) {
    dropped->isSettled = true;
    return settle();
  }
  const bool wasServed = dropped->isServed;
  const simulator::TracedRequest about = std::move(dropped->about);
  // The next prompt is concurrent with the prompts that this prompt was concurrent with.
  const auto next = std::find_if(dropped + 1, m_operations.end(), std::mem_fn(&Operation::isPrompt));
  if (next != m_operations.end()) next->isBeside = next->isBeside && dropped->isBeside;
  m_tokens -= dropped->tokens.size();
  m_operations.erase(dropped);
  if (wasServed) {
    Contents now = m_settled.copy();
    for (const Operation& operation : m_operations)
      if (operation.isServed) apply(operation, now);
    if (now.reporter != nullptr) now.reporter->unmute(*m_now.reporter, about);
    m_now = std::move(now);
  }
  settle();
}

simulator::Answer UpstreamCache::apply(const Operation& operation, Contents& contents) {
  if (contents.reporter != nullptr) contents.reporter->follow(operation.about, operation.isPrompt);
  return contents.simulator->serve(
      {.prompt = operation.tokens, .answer = {}, .salt = {}, .isBeside = operation.isBeside},
      contents.reporter.get());
}

void UpstreamCache::serveUpTo(std::uint64_t number) {
  for (Operation& operation : m_operations) {
    if (operation.isServed || operation.number > number) continue;
    operation.isServed = true;
    m_running.at(operation.number).answer = apply(operation, m_now);
  }
}

/// Moves the first operations to `m_settled`.
void UpstreamCache::settle() {
  while (!m_operations.empty()) {
    const Operation& first = m_operations.front();
    if (!first.isServed || (!first.isSettled && m_tokens <= kMostOpenTokens)) return;
    apply(first, m_settled);
    m_tokens -= first.tokens.size();
    m_operations.pop_front();
  }
}

}  // namespace spanscope::gateway
