// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/trace/simulated_engine.h"

#include <QtGlobal>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace spanscope::trace::test {

SimulatedEngine::SimulatedEngine(Sink& sink, std::uint64_t seed, std::int32_t blockCount,
                                 std::int32_t blockSize)
    : m_sink(sink), m_random(seed) {
  m_pool.blockSize = blockSize;
  m_pool.blocks.resize(static_cast<std::size_t>(blockCount));
  m_pool.freeOrder.resize(static_cast<std::size_t>(blockCount) - 1);
  std::iota(m_pool.freeOrder.begin(), m_pool.freeOrder.end(), 1);
}

void SimulatedEngine::start() {
  m_sink.send(0, 0, {},
              SessionStarted{.program = "simulation",
                             .model = "none",
                             .backend = "none",
                             .threads = 1,
                             .layers = 2,
                             .heads = 2,
                             .pool = m_pool});
}

void SimulatedEngine::leaveFreeList(BlockId block) {
  m_pool.freeOrder.erase(std::find(m_pool.freeOrder.begin(), m_pool.freeOrder.end(), block));
}

BlockId SimulatedEngine::allocate(const Running& request, std::int32_t virtualIndex) {
  const BlockId id = m_pool.freeOrder.front();
  if (at(id).cached) {
    m_sink.send(request.run, request.id, request.node,
                BlockRemoved{.block = id, .key = at(id).key, .reason = RemovalReason::Evicted});
  }
  at(id) = BlockState{};
  at(id).references = 1;
  leaveFreeList(id);
  m_sink.send(request.run, request.id, request.node,
              BlockAllocated{.block = id, .segment = 0, .virtualIndex = virtualIndex});
  return id;
}

void SimulatedEngine::share(const Running& request, BlockId block, std::int32_t virtualIndex) {
  if (at(block).references == 0) leaveFreeList(block);
  ++at(block).references;
  m_sink.send(
      request.run, request.id, request.node,
      BlockShared{
          .block = block, .segment = 0, .virtualIndex = virtualIndex, .references = at(block).references});
}

void SimulatedEngine::release(const Running& request, BlockId block) {
  BlockState& state = at(block);
  --state.references;
  m_sink.send(request.run, request.id, request.node,
              BlockReleased{.block = block, .references = state.references});
  if (state.references > 0) return;
  m_pool.freeOrder.insert(state.cached ? m_pool.freeOrder.end() : m_pool.freeOrder.begin(), block);
}

void SimulatedEngine::startRequest() {
  if (m_run == 0 || below(3) == 0) {
    ++m_run;
    m_sink.send(m_run, 0, {}, RunStarted{.queryJson = "{}", .policy = "spans", .seed = below(1000)});
    m_sink.send(
        m_run, 0, {},
        PlanMade{.steps = {PlannedStep{.step = 0, .node = "/g", .needs = {}}}, .explain = "one step"});
  }
  Running request;
  request.id = ++m_request;
  request.run = m_run;
  request.node = "/g/input/" + std::to_string(below(3));
  m_texts[request.id];
  const std::size_t wanted = 1 + below(4);
  m_sink.send(request.run, request.id, request.node, StepStarted{.step = 0, .copy = 0});
  SegmentInfo segment;
  segment.node = request.node;
  segment.tokens.assign(wanted * static_cast<std::size_t>(m_pool.blockSize), static_cast<TokenId>(below(50)));
  segment.texts.assign(segment.tokens.size(), "w");
  segment.runs.push_back(TokenRunInfo{.count = static_cast<std::int32_t>(segment.tokens.size()), .node = {}});
  m_sink.send(request.run, request.id, request.node, SpanTableLaidOut{.segments = {segment}});
  if (m_pool.freeOrder.size() < wanted + 2) {
    m_sink.send(request.run, request.id, request.node, RequestDeferred{.reason = "no room", .waitFor = 0});
    m_sink.send(request.run, request.id, request.node,
                StepFinished{.step = 0, .outcome = StepOutcome::Failed, .text = {}});
    return;
  }
  std::int64_t cached = 0;
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto virtualIndex = static_cast<std::int32_t>(i);
    const auto candidate = static_cast<BlockId>(1 + below(m_pool.blocks.size() - 1));
    const bool hit = at(candidate).cached;
    m_sink.send(request.run, request.id, request.node,
                BlockLookedUp{.virtualIndex = virtualIndex,
                              .block = hit ? candidate : kNullBlock,
                              .outcome = hit ? LookupOutcome::Hit : LookupOutcome::Miss,
                              .reason = hit ? MissReason::None : MissReason::NeverSeen,
                              .tokens = hit ? m_pool.blockSize : 0,
                              .wanted = m_pool.blockSize,
                              .storedByNode = {}});
    if (hit) {
      share(request, candidate, virtualIndex);
      request.blocks.push_back(candidate);
      cached += m_pool.blockSize;
    } else {
      request.blocks.push_back(allocate(request, virtualIndex));
    }
    request.own.push_back(!hit);
  }
  m_sink.send(request.run, request.id, request.node,
              RequestAdmitted{.promptTokens = static_cast<std::int64_t>(segment.tokens.size()),
                              .cachedTokens = cached,
                              .relocatedTokens = 0});
  m_running.push_back(std::move(request));
}

void SimulatedEngine::store(Running& request) {
  if (request.stored == request.blocks.size()) return;
  m_sink.send(request.run, 0, {},
              BatchComputed{.entries = {BatchEntry{.request = request.id, .count = m_pool.blockSize}},
                            .nanoseconds = 1000});
  const std::size_t index = request.stored++;
  if (!request.own[index]) return;
  const BlockId id = request.blocks[index];
  BlockState& block = at(id);
  if (block.cached) {
    m_sink.send(request.run, request.id, request.node,
                BlockRemoved{.block = id, .key = block.key, .reason = RemovalReason::Grown});
  }
  block.cached = true;
  block.key = BlockKey{m_random(), m_random()};
  block.parent = BlockKey{m_random(), 0};
  block.fill = 1 + static_cast<std::int32_t>(below(static_cast<std::uint64_t>(m_pool.blockSize)));
  block.tokens.assign(static_cast<std::size_t>(block.fill), static_cast<TokenId>(below(1000)));
  block.base = static_cast<std::int64_t>(below(100));
  block.virtualIndex = static_cast<std::int32_t>(index);
  block.storedByRun = request.run;
  block.storedByRequest = request.id;
  block.storedByNode = request.node;
  m_sink.send(request.run, request.id, request.node,
              BlockStored{.block = id,
                          .key = block.key,
                          .parent = block.parent,
                          .segment = 0,
                          .virtualIndex = block.virtualIndex,
                          .base = block.base,
                          .tokens = block.tokens});
}

void SimulatedEngine::generate(Running& request) {
  if (below(4) == 0 && !m_pool.freeOrder.empty()) {
    const auto virtualIndex = static_cast<std::int32_t>(request.blocks.size());
    const BlockId source = request.blocks.back();
    share(request, source, virtualIndex);
    const BlockId target = allocate(request, virtualIndex);
    m_sink.send(request.run, request.id, request.node, BlockCopied{source, target, 1});
    release(request, source);
    request.blocks.push_back(target);
    request.own.push_back(true);
  }
  const std::string text = " t" + std::to_string(below(100));
  m_texts[request.id] += text;
  m_sink.send(request.run, request.id, request.node,
              TokenGenerated{.index = request.tokens++,
                             .token = 7,
                             .text = text,
                             .shown = text,
                             .probability = 0.5F,
                             .segmentMass = {1.0F}});
}

void SimulatedEngine::finish(std::size_t index) {
  const Running request = m_running[index];
  m_running.erase(m_running.begin() + static_cast<std::ptrdiff_t>(index));
  for (std::size_t i = request.blocks.size(); i > 0; --i) release(request, request.blocks[i - 1]);
  m_sink.send(request.run, request.id, request.node,
              StepMetrics{.step = 0,
                          .promptTokens = m_pool.blockSize,
                          .generatedTokens = request.tokens,
                          .timeToFirstToken = 0.25,
                          .interTokenLatency = 0.125});
  m_sink.send(request.run, request.id, request.node,
              StepFinished{.step = 0, .outcome = StepOutcome::EndToken, .text = m_texts[request.id]});
}

void SimulatedEngine::clear() {
  for (BlockState& block : m_pool.blocks) block = BlockState{};
  m_pool.freeOrder.resize(m_pool.blocks.size() - 1);
  std::iota(m_pool.freeOrder.begin(), m_pool.freeOrder.end(), 1);
  m_sink.send(0, 0, {}, CacheCleared{});
}

void SimulatedEngine::step() {
  if (m_running.empty() && below(20) == 0) {
    clear();
    return;
  }
  if (m_running.empty() || (m_running.size() < 4 && below(4) == 0)) {
    startRequest();
    return;
  }
  const std::size_t index = below(m_running.size());
  switch (below(8)) {
    case 0:
      finish(index);
      break;
    case 1:
    case 2:
    case 3:
      store(m_running[index]);
      break;
    default:
      generate(m_running[index]);
      break;
  }
}

void SimulatedEngine::drainRequests() {
  while (!m_running.empty()) finish(m_running.size() - 1);
  for (RunId run = 1; run <= m_run; ++run) {
    m_sink.send(run, 0, {}, RunFinished{.outcome = RunOutcome::Finished, .answer = "answer"});
  }
}

std::vector<Event> simulatedTrace(std::uint64_t seed, int steps, std::int32_t blockCount) {
  ListSink sink;
  SimulatedEngine engine(sink, seed, blockCount);
  engine.start();
  for (int i = 0; i < steps; ++i) engine.step();
  engine.drainRequests();
  return std::move(sink.events);
}

std::uint64_t testSeed(std::uint64_t otherwise) {
  const char* given = std::getenv("SPANSCOPE_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
  qInfo("seed %llu (SPANSCOPE_TEST_SEED)", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace spanscope::trace::test
