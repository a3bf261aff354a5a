// SPDX-License-Identifier: GPL-3.0-or-later
// What the cache tests share: a sink that replays its events, and short ways to write requests.
#pragma once

#include "engine/cache/kv_cache.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_replay.h"
#include "engine/trace/pool_state.h"
#include "engine/trace/sink.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::cache::test {

/// Rebuilds the pool from events alone. Throws if an event cannot have happened.
class PoolReplayer {
 public:
  explicit PoolReplayer(const CacheConfig& config) {
    m_pool.blockSize = config.blockSize;
    m_pool.blocks.resize(static_cast<std::size_t>(config.blockCount));
    orderAll();
  }

  const trace::PoolState& pool() const { return m_pool; }

  void apply(const trace::Event& event) {
    std::visit([this, &event](const auto& payload) { on(event, payload); }, event.payload);
  }

 private:
  template <class Payload>
  void on(const trace::Event&, const Payload&) {}

  void on(const trace::Event&, const trace::BlockAllocated& payload) {
    require(!m_pool.freeOrder.empty() && m_pool.freeOrder.front() == payload.block,
            "the front block is allocated");
    require(!at(payload.block).cached, "what was cached is removed first");
    m_pool.freeOrder.erase(m_pool.freeOrder.begin());
    at(payload.block).references = 1;
  }
  void on(const trace::Event&, const trace::BlockShared& payload) {
    require(payload.references == at(payload.block).references + 1, "one reference more");
    if (at(payload.block).references == 0) {
      const auto found = std::find(m_pool.freeOrder.begin(), m_pool.freeOrder.end(), payload.block);
      require(found != m_pool.freeOrder.end(), "an unreferenced block is free");
      m_pool.freeOrder.erase(found);
    }
    at(payload.block).references = payload.references;
  }
  void on(const trace::Event& event, const trace::BlockStored& payload) {
    trace::BlockState& block = at(payload.block);
    require(!block.cached, "a block is stored once");
    require(block.references > 0, "only referenced blocks are stored");
    block.cached = true;
    block.key = payload.key;
    block.parent = payload.parent;
    block.fill = static_cast<std::int32_t>(payload.tokens.size());
    block.base = payload.base;
    block.virtualIndex = payload.virtualIndex;
    block.storedByRun = event.run;
    block.storedByRequest = event.request;
    block.storedByNode = event.node;
    block.tokens = payload.tokens;
  }
  void on(const trace::Event&, const trace::BlockRemoved& payload) {
    require(at(payload.block).cached && at(payload.block).key == payload.key, "what is removed was stored");
    forget(at(payload.block));
  }
  void on(const trace::Event&, const trace::BlockReleased& payload) {
    trace::BlockState& block = at(payload.block);
    require(payload.references == block.references - 1 && payload.references >= 0, "one reference fewer");
    block.references = payload.references;
    if (payload.references > 0) return;
    m_pool.freeOrder.insert(block.cached ? m_pool.freeOrder.end() : m_pool.freeOrder.begin(), payload.block);
  }
  void on(const trace::Event&, const trace::CacheCleared&) {
    for (trace::BlockState& block : m_pool.blocks) {
      require(block.references == 0, "nothing is in use when the cache is cleared");
      forget(block);
    }
    orderAll();
  }

  static void forget(trace::BlockState& block) {
    const std::int32_t references = block.references;
    block = trace::BlockState{};
    block.references = references;
  }
  static void require(bool condition, const char* what) {
    if (!condition) throw std::runtime_error(what);
  }
  trace::BlockState& at(BlockId block) {
    require(block > 0 && block < static_cast<BlockId>(m_pool.blocks.size()), "the block exists");
    return m_pool.blocks[static_cast<std::size_t>(block)];
  }
  void orderAll() {
    m_pool.freeOrder.clear();
    for (BlockId block = 1; block < static_cast<BlockId>(m_pool.blocks.size()); ++block) {
      m_pool.freeOrder.push_back(block);
    }
  }

  trace::PoolState m_pool;
};

/// Keeps every event and replays it at once in two ways: with PoolReplayer, which knows only the meaning of
/// the events, and with the replay that views use.
class ReplayingSink : public trace::Sink {
 public:
  explicit ReplayingSink(const CacheConfig& config) : m_replayer(config), m_viewed(m_replayer.pool()) {}

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override {
    trace::Event event;
    event.sequence = m_events.size() + 1;
    event.run = run;
    event.request = request;
    event.node = node;
    event.payload = std::move(payload);
    m_replayer.apply(event);
    if (const auto error = m_viewed.apply(event)) throw std::runtime_error(error->message());
    m_events.push_back(std::move(event));
    if (onEvent) onEvent(m_events.back());
    return m_events.back().sequence;
  }

  const std::vector<trace::Event>& events() const { return m_events; }
  const trace::PoolState& pool() const { return m_replayer.pool(); }
  trace::PoolState viewedPool() const { return m_viewed.state(); }

  /// The payloads of one type from event index `from` on.
  template <class Payload>
  std::vector<Payload> all(std::size_t from = 0) const {
    std::vector<Payload> found;
    for (std::size_t index = from; index < m_events.size(); ++index) {
      if (const Payload* payload = std::get_if<Payload>(&m_events[index].payload)) found.push_back(*payload);
    }
    return found;
  }

  std::function<void(const trace::Event&)> onEvent;

 private:
  PoolReplayer m_replayer;
  trace::PoolReplay m_viewed;
  std::vector<trace::Event> m_events;
};

/// `count` tokens: first, first + 1, …
inline std::vector<TokenId> range(TokenId first, std::int32_t count) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(count));
  for (std::int32_t index = 0; index < count; ++index)
    tokens[static_cast<std::size_t>(index)] = first + index;
  return tokens;
}

inline std::vector<TokenId> operator+(std::vector<TokenId> a, const std::vector<TokenId>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// A request with one plain segment at base 0.
inline RequestSpec prompt(RequestId id, std::vector<TokenId> tokens, std::int32_t lookahead = 0) {
  RequestSpec request;
  request.id = id;
  request.run = 1;
  request.lookahead = lookahead;
  SegmentSpec segment;
  segment.tokens = std::move(tokens);
  segment.node = "/g";
  request.segments.push_back(std::move(segment));
  return request;
}

/// A request with independent spans one after the other, then a question that sees all of them. The span at
/// index i has the node "/span/i", the question "/question".
inline RequestSpec spans(RequestId id, const std::vector<std::vector<TokenId>>& documents,
                         std::vector<TokenId> question, std::int32_t lookahead = 0) {
  RequestSpec request = prompt(id, std::move(question), lookahead);
  SegmentSpec last = std::move(request.segments.back());
  request.segments.clear();
  last.node = "/question";
  std::int64_t base = 0;
  for (const std::vector<TokenId>& document : documents) {
    SegmentSpec segment;
    segment.tokens = document;
    segment.base = base;
    segment.node = "/span/" + std::to_string(request.segments.size());
    base += static_cast<std::int64_t>(document.size());
    request.segments.push_back(std::move(segment));
  }
  last.base = base;
  for (std::uint32_t index = 0; index < documents.size(); ++index) {
    last.sees.push_back({index, base - request.segments[index].base, 0});
  }
  request.segments.push_back(std::move(last));
  return request;
}

}  // namespace spanscope::cache::test
