// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/upstream_cache.h"

#include "engine/workbench/servers/cache_order.h"
#include "engine/workbench/servers/simulator_prediction.h"

#include <utility>

namespace spanscope::gateway {

namespace {

constexpr std::int64_t kMostTreeTokens = std::int64_t{1} << 22U;
constexpr std::int64_t kUnknownBlocks = std::int64_t{1} << 16U;
constexpr std::int64_t kMostTracedBlocks = std::int64_t{1} << 17U;
/// Evicted contents are kept up to this number, so that memory does not grow.
constexpr std::size_t kMostRemoved = std::size_t{1} << 17U;

}  // namespace

/// Sends the events of the cache to a sink, and keeps no event. Requests are served one after another.
class UpstreamCache::Reporter final : public simulator::CacheEvents {
 public:
  Reporter(const simulator::CacheShape& shape, trace::Sink& sink) : CacheEvents(shape), m_sink(sink) {}

  trace::PoolState pool() const { return emptyPool(static_cast<std::size_t>(shape().blocks) + 1); }
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
    return m_sink.send(about.run, about.request, about.node, std::move(payload));
  }

 private:
  const simulator::TracedRequest& of(const std::string& /*name*/) const override { return m_request; }

  trace::Sink& m_sink;
  simulator::TracedRequest m_request;
  bool m_isPrompt = true;
};

UpstreamCache::UpstreamCache(trace::Sink& sink) : m_sink(sink) {
  use({});
}

UpstreamCache::~UpstreamCache() = default;

void UpstreamCache::use(const remote::ServerFacts& facts) {
  const std::lock_guard lock(m_mutex);
  const bool isAsBefore = m_simulator != nullptr && m_facts.kind == facts.kind &&
                          m_facts.version == facts.version && m_facts.slots == facts.slots &&
                          m_facts.cache == facts.cache;
  if (isAsBefore) return;
  m_facts = facts;
  m_kind = simulator::findServer(remote::infoOf(facts.kind).name);
  workbench::SimulatorSetup setup = m_kind == nullptr
                                        ? workbench::SimulatorSetup()
                                        : workbench::simulatorSetup(facts.kind, facts.slots, facts.cache);
  m_reporter.reset();
  m_simulator.reset();
  m_running = 0;
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
    m_simulator = simulator::kSglang.open(setup.settings);
    return;
  }
  m_simulator = m_kind->open(setup.settings);
  if (m_simulator->shape().blocks == 0) {
    // The server does not report the size of its cache. A limit keeps the memory of the gateway small.
    setup.settings.cacheTokens = kUnknownBlocks * m_simulator->shape().blockSize;
    m_simulator = m_kind->open(setup.settings);
  }
  m_setup = m_kind->setup(setup.settings);
  // A trace of a larger pool would take too long to read.
  if (m_simulator->shape().blocks > kMostTracedBlocks) return;
  m_reporter = std::make_unique<Reporter>(m_simulator->shape(), m_sink);
}

std::string UpstreamCache::title() const {
  const std::lock_guard lock(m_mutex);
  return m_kind == nullptr || m_simulator == nullptr ? std::string()
                                                     : workbench::simulatorTitle(*m_kind, m_facts.version);
}

void UpstreamCache::startSession(const std::string& program, const std::string& model,
                                 const std::string& server) {
  const std::lock_guard lock(m_mutex);
  if (std::exchange(m_hasStarted, true)) return;
  trace::SessionStarted started{.program = program, .model = model, .backend = server, .pool = pool()};
  if (m_reporter != nullptr)
    started.backend += "; blocks by the cache simulator of " +
                       workbench::simulatorTitle(*m_kind, m_facts.version) + ", " + m_setup;
  m_sink.send(0, 0, {}, std::move(started));
}

trace::PoolState UpstreamCache::pool() const {
  return m_reporter == nullptr ? trace::PoolState() : m_reporter->pool();
}

std::int64_t UpstreamCache::cached(std::span<const TokenId> prompt) const {
  const std::lock_guard lock(m_mutex);
  if (m_simulator == nullptr || prompt.empty()) return 0;
  return m_simulator->cachedBeginnings()(prompt.first(prompt.size() - 1));
}

std::optional<simulator::ChosenOrder> UpstreamCache::order(const simulator::PromptPart& prompt) const {
  const std::lock_guard lock(m_mutex);
  if (m_simulator == nullptr) return std::nullopt;
  return simulator::chooseOrder(prompt, m_simulator->cachedBeginnings(), m_counts,
                                workbench::orderRules(*m_simulator));
}

void UpstreamCache::count(const simulator::PromptPart& prompt) {
  const std::lock_guard lock(m_mutex);
  m_counts.add(prompt);
}

std::optional<CachePrediction> UpstreamCache::begin(std::span<const TokenId> prompt,
                                                    const simulator::TracedRequest& about) {
  const std::lock_guard lock(m_mutex);
  if (m_simulator == nullptr || prompt.empty()) return std::nullopt;
  CachePrediction prediction{.answer = serve(prompt, about, true), .isOfServer = m_kind != nullptr};
  ++m_running;
  return prediction;
}

void UpstreamCache::end(std::span<const TokenId> sequence, const simulator::TracedRequest& about) {
  const std::lock_guard lock(m_mutex);
  if (m_running > 0) --m_running;
  if (m_simulator != nullptr && !sequence.empty()) serve(sequence, about, false);
}

simulator::Answer UpstreamCache::serve(std::span<const TokenId> prompt, const simulator::TracedRequest& about,
                                       bool isPrompt) {
  const simulator::Request request{
      .prompt = prompt, .answer = {}, .salt = {}, .isBeside = isPrompt && m_running > 0};
  if (m_reporter != nullptr) m_reporter->follow(about, isPrompt);
  return m_simulator->serve(request, m_reporter.get());
}

}  // namespace spanscope::gateway
