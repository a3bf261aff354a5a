// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/tracing/cache_tracer.h"

#include "engine/base/counted.h"
#include "engine/base/hash.h"
#include "engine/query/json/json.h"
#include "engine/simulator/servers.h"
#include "engine/trace/predicted.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>

namespace spanscope::simulator {

namespace {

/// The trace of a larger pool reports only the used blocks.
constexpr std::int64_t kMaxTracedBlocks = std::int64_t{1} << 17U;

}  // namespace

std::string tracedProgram(const Server& server) {
  return std::string(server.title) + " " + server.version + std::string(trace::kSimulatorMark);
}

std::string tracedPolicy(const std::string& title) {
  return title + /*id:policy-predicted*/ ", predicted";
}

CacheTracer::CacheTracer(TracedSession session, std::function<std::string(TokenId)> show)
    : CacheEvents(session.shape), m_session(std::move(session)), m_show(std::move(show)) {
  CacheTracer::emitEvent({}, trace::SessionStarted{});
}

std::uint64_t CacheTracer::emitEvent(const TracedRequest& about, trace::Payload payload) {
  const std::uint64_t sequence = m_events.size() + 1;
  m_events.push_back({.sequence = sequence,
                      .time = 0,
                      .session = 1,
                      .run = about.run,
                      .request = about.request,
                      .node = about.node,
                      .payload = std::move(payload)});
  return sequence;
}

void CacheTracer::amend(std::uint64_t sequence, trace::Payload payload) {
  m_events.at(static_cast<std::size_t>(sequence - 1)).payload = std::move(payload);
}

trace::PoolState CacheTracer::pool() const {
  std::size_t blocks = usedBlocks();
  if (const std::int64_t traced = shape().blocks; traced > 0 && traced <= kMaxTracedBlocks)
    blocks = std::max(blocks, static_cast<std::size_t>(traced) + 1);
  return emptyPool(blocks);
}

trace::PoolState CacheEvents::emptyPool(std::size_t blocks) const {
  trace::PoolState pool{.blockSize = m_shape.blockSize,
                        .blocks = std::vector<trace::BlockState>(blocks),
                        .freeOrder = std::vector<BlockId>(blocks - 1)};
  std::iota(pool.freeOrder.begin(), pool.freeOrder.end(), 1);
  return pool;
}

void CacheEvents::forgetRemoved(std::size_t most) {
  if (m_removed <= most) return;
  std::erase_if(m_contents, [](const auto& content) { return content.second.blocks.empty(); });
  for (auto& [parent, keys] : m_children)
    std::erase_if(keys, [this](const trace::BlockKey& key) { return !m_contents.contains(key); });
  std::erase_if(m_children, [](const auto& parent) { return parent.second.empty(); });
  m_removed = 0;
}

std::vector<trace::Event> CacheTracer::events() const {
  std::vector<trace::Event> events = m_events;
  events.front().payload = trace::SessionStarted{.program = m_session.program,
                                                 .model = m_session.model,
                                                 .backend = "no language model runs; " + m_session.setup,
                                                 .threads = 0,
                                                 .layers = 0,
                                                 .heads = 0,
                                                 .pool = pool()};
  return events;
}

const TracedRequest& CacheTracer::of(const std::string& name) const {
  static const TracedRequest kNobody;
  const auto found = m_requests.find(name);
  return found == m_requests.end() ? kNobody : found->second;
}

CacheEvents::Block& CacheEvents::at(BlockId block) {
  const auto index = static_cast<std::size_t>(block);
  if (index >= m_blocks.size()) m_blocks.resize(index + 1);
  return m_blocks[index];
}

void CacheEvents::traceStoredBy(BlockId block, trace::BlockLookedUp& facts) const {
  const Block& own = m_blocks[static_cast<std::size_t>(block)];
  facts.block = block;
  facts.storedByRun = own.storedBy.run;
  facts.storedByRequest = own.storedBy.request;
  facts.storedByNode = own.storedBy.node;
}

std::optional<CacheEvents::Nearest> CacheEvents::nearest(const trace::BlockKey& parent,
                                                         std::span<const TokenId> tokens) const {
  const auto children = m_children.find(parent);
  if (children == m_children.end()) return std::nullopt;
  std::optional<Nearest> best;
  for (const trace::BlockKey& key : children->second) {
    const Content& content = m_contents.at(key);
    if (content.blocks.empty()) continue;
    const auto parted =
        std::mismatch(content.tokens.begin(), content.tokens.end(), tokens.begin(), tokens.end());
    if (parted.second == tokens.end()) continue;
    const auto common = static_cast<std::int32_t>(parted.second - tokens.begin());
    if (best && best->common >= common) continue;
    best = {.block = content.blocks.front(),
            .common = common,
            .token = parted.first == content.tokens.end() ? -1 : *parted.first};
  }
  return best;
}

/// Sets the reason of a miss, by the rules of the engine's cache (engine/cache/admission_plan.cpp).
void CacheEvents::explain(const PromptLookup& lookup, std::size_t index, bool isFirst,
                          trace::BlockLookedUp& facts) const {
  using trace::MissReason;
  const auto size = static_cast<std::size_t>(m_shape.blockSize);
  const bool isFull = index < lookup.keys.size();
  if (!lookup.usesCache || (isFirst && !isFull)) {
    facts.reason = MissReason::CacheOff;
    return;
  }
  const auto content = isFull ? m_contents.find(lookup.keys[index]) : m_contents.end();
  const bool isKnown = content != m_contents.end();
  const bool isStored = isKnown && !content->second.blocks.empty();
  if (isStored) traceStoredBy(content->second.blocks.front(), facts);
  if (isFirst && index < lookup.kept) {
    facts.reason = MissReason::LastToken;
  } else if (isKnown && !isStored) {
    facts.reason = MissReason::Evicted;
    facts.evictedBy = content->second.removedBy;
  } else if (!isFirst) {
    facts.reason = MissReason::AfterMiss;
  } else {
    const std::size_t begin = index * size;
    const auto other =
        nearest(index == 0 ? lookup.root : lookup.keys[index - 1], lookup.prompt.subspan(begin, size));
    // At the beginning of a prompt, any other text is a neighbour.
    const bool isNear = index > 0 || (other && other->common > 0);
    facts.reason = isNear ? MissReason::TokensDiffer : MissReason::NeverSeen;
    if (!isNear) return;
    const auto common = static_cast<std::size_t>(other ? other->common : 0);
    facts.differsAt = static_cast<std::int32_t>(begin + common);
    facts.tokenWanted = lookup.prompt[begin + common];
    if (!other) return;
    facts.tokenStored = other->token;
    traceStoredBy(other->block, facts);
  }
}

void CacheEvents::lookedUp(const std::string& request, const PromptLookup& lookup) {
  const std::size_t size = static_cast<std::size_t>(m_shape.blockSize);
  const std::size_t blocks = (lookup.prompt.size() + size - 1) / size;
  const std::size_t found = lookup.found.size();
  trace::RequestAdmitted sums{.promptTokens = static_cast<std::int64_t>(lookup.prompt.size())};
  for (std::size_t i = 0; i < blocks; ++i) {
    trace::BlockLookedUp facts;
    facts.virtualIndex = static_cast<std::int32_t>(i);
    facts.wanted = static_cast<std::int32_t>(std::min(size, lookup.prompt.size() - i * size));
    if (i < found) {
      traceStoredBy(lookup.found[i], facts);
      facts.outcome = trace::LookupOutcome::Hit;
      facts.tokens = facts.wanted;
    } else if (i < found + lookup.moved.size()) {
      const MovedBlock& moved = lookup.moved[i - found];
      traceStoredBy(moved.block, facts);
      facts.outcome = trace::LookupOutcome::Relocated;
      facts.tokens = facts.wanted;
      facts.storedBase = (std::int64_t{moved.from} - static_cast<std::int64_t>(i)) * m_shape.blockSize;
      sums.relocatedTokens += facts.tokens;
    } else {
      explain(lookup, i, i == found + lookup.moved.size(), facts);
    }
    sums.cachedTokens += facts.tokens;
    emitEvent(of(request), std::move(facts));
  }
  m_sums[of(request).request] = sums;
}

void CacheEvents::admitted(const std::string& request) {
  const auto sums = m_sums.extract(of(request).request);
  emitEvent(of(request), sums ? sums.mapped() : trace::RequestAdmitted{});
}

void CacheEvents::refused(const std::string& request) {
  emitEvent(of(request),
            trace::MessageLogged{.severity = Severity::Error, .text = fateSentence(Fate::TooLittle)});
}

void CacheTracer::sampled(const std::string& request, TokenId token) {
  // An unknown token needs space, but is not a token of an answer.
  if (token < 0) return;
  trace::TokenGenerated event;
  event.index = m_sampled[of(request).request]++;
  event.token = token;
  event.shown = m_show(token);
  emitEvent(of(request), std::move(event));
}

void CacheEvents::shared(const std::string& request, BlockId block, std::size_t index) {
  const std::int32_t references = ++at(block).references;
  emitEvent(of(request), trace::BlockShared{.block = block,
                                            .segment = 0,
                                            .virtualIndex = static_cast<std::int32_t>(index),
                                            .references = references});
}

void CacheEvents::taken(const std::string& request, BlockId block, std::size_t index) {
  at(block).references = 1;
  emitEvent(of(request), trace::BlockAllocated{
                             .block = block, .segment = 0, .virtualIndex = static_cast<std::int32_t>(index)});
}

void CacheEvents::stored(const std::string& request, BlockId block, std::size_t index,
                         const trace::BlockKey& key, const trace::BlockKey& parent,
                         std::span<const TokenId> tokens) {
  Block& own = at(block);
  if (own.isCached) std::erase(m_contents[own.key].blocks, block);
  own.isCached = true;
  own.key = key;
  own.parent = parent;
  own.virtualIndex = static_cast<std::int32_t>(index);
  own.storedBy = of(request);
  const auto [content, isNew] = m_contents.try_emplace(key);
  if (isNew) {
    content->second.tokens.assign(tokens.begin(), tokens.end());
    m_children[parent].push_back(key);
  }
  content->second.blocks.push_back(block);
  emitEvent(of(request), trace::BlockStored{.block = block,
                                            .key = key,
                                            .parent = parent,
                                            .segment = 0,
                                            .virtualIndex = static_cast<std::int32_t>(index),
                                            .base = 0,
                                            .tokens = {tokens.begin(), tokens.end()}});
}

void CacheEvents::removed(const std::string& request, BlockId block, trace::RemovalReason reason) {
  Block& own = at(block);
  own.isCached = false;
  Content& content = m_contents[own.key];
  std::erase(content.blocks, block);
  ++m_removed;
  content.removedBy =
      emitEvent(of(request), trace::BlockRemoved{.block = block, .key = own.key, .reason = reason});
}

void CacheEvents::released(const std::string& request, BlockId block) {
  const std::int32_t references = --at(block).references;
  emitEvent(of(request), trace::BlockReleased{.block = block, .references = references});
}

void CacheEvents::emitChanges(const CacheEvents& before, const TracedRequest& about) {
  const std::size_t count = std::max(m_blocks.size(), before.m_blocks.size());
  m_blocks.resize(count);
  const Block none;
  for (std::size_t i = 1; i < count; ++i) {
    const auto number = static_cast<BlockId>(i);
    const Block& old = i < before.m_blocks.size() ? before.m_blocks[i] : none;
    const Block& now = m_blocks[i];
    const bool isKept = old.isCached && now.isCached && old.key == now.key;
    if (old.isCached && !isKept)
      emitEvent(about, trace::BlockRemoved{
                           .block = number, .key = old.key, .reason = trace::RemovalReason::Cleared});
    for (std::int32_t references = old.references; references > now.references;)
      emitEvent(about, trace::BlockReleased{.block = number, .references = --references});
    for (std::int32_t references = old.references; references < now.references;)
      emitEvent(
          now.storedBy,
          trace::BlockShared{
              .block = number, .segment = 0, .virtualIndex = now.virtualIndex, .references = ++references});
    if (now.isCached && !isKept)
      emitEvent(now.storedBy, trace::BlockStored{.block = number,
                                                 .key = now.key,
                                                 .parent = now.parent,
                                                 .segment = 0,
                                                 .virtualIndex = now.virtualIndex,
                                                 .base = 0,
                                                 .tokens = m_contents.at(now.key).tokens});
  }
  for (auto& [key, content] : m_contents) {
    const auto old = before.m_contents.find(key);
    if (old != before.m_contents.end() && content.removedBy == 0) content.removedBy = old->second.removedBy;
  }
}

void CacheEvents::savedToHost(const std::string& request, BlockId block) {
  emitEvent(of(request), trace::BlockSpilled{.block = block,
                                             .key = at(block).key,
                                             .tier = trace::StoreTier::Host,
                                             .tokens = m_shape.blockSize,
                                             .bytes = 0});
}

void CacheEvents::loadedFromHost(const std::string& request, BlockId block, std::size_t index,
                                 const trace::BlockKey& key) {
  emitEvent(of(request), trace::BlockLoaded{.block = block,
                                            .key = key,
                                            .tier = trace::StoreTier::Host,
                                            .segment = 0,
                                            .virtualIndex = static_cast<std::int32_t>(index),
                                            .tokens = m_shape.blockSize,
                                            .bytes = 0,
                                            .nanoseconds = 0});
}

void countFrom(std::vector<trace::Event>& events, RunId lastRun, RequestId lastRequest) {
  for (trace::Event& event : events) {
    if (event.run != 0) event.run += lastRun;
    if (event.request != 0) event.request += lastRequest;
    auto* const lookup = std::get_if<trace::BlockLookedUp>(&event.payload);
    if (lookup == nullptr || lookup->storedByRun == 0) continue;
    lookup->storedByRun += lastRun;
    lookup->storedByRequest += lastRequest;
  }
}

namespace {

constexpr RunId kScenarioRun = 1;

NodePath pathOf(StepIndex step) {
  return "/par/" + std::to_string(step);
}

}  // namespace

CacheObserver& ScenarioTrace::begin(std::string setup, const CacheShape& shape) {
  m_tracer.emplace(
      TracedSession{
          .program = tracedProgram(m_server), .setup = std::move(setup), .model = {}, .shape = shape},
      [](TokenId token) { return std::to_string(token); });
  m_runStarted = m_tracer->emitEvent({.run = kScenarioRun}, trace::RunStarted{});
  m_planMade = m_tracer->emitEvent({.run = kScenarioRun}, trace::PlanMade{});
  return *m_tracer;
}

void ScenarioTrace::start(const std::string& request, std::span<const TokenId> prompt) {
  const auto step = static_cast<StepIndex>(m_titles.size());
  m_titles.push_back(request + ": a prompt of " + counted(prompt.size(), "token"));
  const TracedRequest traced{.run = kScenarioRun, .request = step + 1, .node = pathOf(step), .step = step};
  m_running[request] = traced;
  m_tracer->follow(request, traced);
  m_tracer->emitEvent(traced, trace::StepStarted{.step = step, .copy = 0});
  trace::SegmentInfo segment;
  segment.node = traced.node;
  segment.tokens.assign(prompt.begin(), prompt.end());
  for (const TokenId token : prompt) segment.texts.push_back(m_tracer->shown(token));
  segment.runs.push_back({.count = static_cast<std::int32_t>(prompt.size()),
                          .source = trace::TokenSource::Text,
                          .node = traced.node + "/g/input"});
  m_tracer->emitEvent(traced, trace::SpanTableLaidOut{.segments = {std::move(segment)}});
}

void ScenarioTrace::say(const std::string& request, std::string text) {
  const auto running = m_running.find(request);
  if (running == m_running.end()) return;
  m_tracer->emitEvent(running->second,
                      trace::MessageLogged{.severity = Severity::Note, .text = std::move(text)});
}

void ScenarioTrace::finish(const std::string& request, trace::StepOutcome outcome) {
  const auto running = m_running.find(request);
  if (running == m_running.end()) return;
  m_tracer->emitEvent(running->second,
                      trace::StepFinished{.step = running->second.step, .outcome = outcome, .text = {}});
  m_running.erase(running);
}

std::vector<trace::Event> ScenarioTrace::events() {
  if (!m_tracer) return {};
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson steps = OrderedJson::array();
  trace::PlanMade plan;
  for (StepIndex step = 0; step < m_titles.size(); ++step) {
    plan.steps.push_back({.step = step, .node = pathOf(step), .copy = 0, .ply = 0, .needs = {}});
    steps.push_back({{"g", {{"model", m_server.name}, {"input", {{"user", m_titles[step]}}}}}});
  }
  const std::string text =
      OrderedJson{{"par", std::move(steps)}}.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  const query::ParseResult parsed = query::parseJson(text);
  m_tracer->amend(m_runStarted,
                  trace::RunStarted{.queryJson = parsed.query ? query::writeCanonical(*parsed.query) : text,
                                    .policy = tracedPolicy(m_server.title),
                                    .seed = 0});
  m_tracer->amend(m_planMade, std::move(plan));
  m_tracer->emitEvent({.run = kScenarioRun},
                      trace::RunFinished{.outcome = m_running.empty() ? trace::RunOutcome::Finished
                                                                      : trace::RunOutcome::Stopped,
                                         .answer = {}});
  return m_tracer->events();
}

namespace {

trace::BlockKey keyOf(const Hash128& hash) {
  return {.high = hash.high, .low = hash.low};
}

}  // namespace

trace::BlockKey rootKey(std::string_view name) {
  return keyOf(hash128(name));
}

std::vector<trace::BlockKey> chainKeys(const trace::BlockKey& root, std::span<const TokenId> tokens,
                                       std::size_t blockSize) {
  std::vector<trace::BlockKey> keys;
  keys.reserve(tokens.size() / blockSize);
  std::vector<std::uint64_t> facts;
  for (trace::BlockKey parent = root; (keys.size() + 1) * blockSize <= tokens.size(); parent = keys.back()) {
    facts.assign({parent.high, parent.low});
    for (const TokenId token : tokens.subspan(keys.size() * blockSize, blockSize))
      facts.push_back(static_cast<std::uint64_t>(token));
    const auto bytes = std::as_bytes(std::span(facts));
    keys.push_back(
        keyOf(hash128(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()))));
  }
  return keys;
}

BlockId BlockNumbers::take() {
  if (m_free.empty()) return m_next++;
  const BlockId block = m_free.back();
  m_free.pop_back();
  return block;
}

}  // namespace spanscope::simulator
