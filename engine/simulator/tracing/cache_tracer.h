// SPDX-License-Identifier: GPL-3.0-or-later
// The events of a cache simulator while it serves requests, block by block. A block is the server's unit of
// caching: a block of vLLM, a page of SGLang, a cell of llama.cpp. Open this file to add an event.
//
// Writes these events as a trace. The trace is a separate session, which all views can show. A simulator
// computes no tokens. The trace therefore has no times (all events are at 0), no forward passes and no
// attention. Open this file to change such traces.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::simulator {

/// The number and size of the blocks of a simulator.
struct CacheShape {
  std::int32_t blockSize = 1;  ///< tokens of a block
  std::int64_t blocks = 0;     ///< without a null block; 0: unlimited
  bool operator==(const CacheShape&) const = default;
};

/// A cached block at a later place than the requested one.
struct MovedBlock {
  BlockId block = kNullBlock;
  std::int32_t from = 0;  ///< index of the block in its stored sequence
};

/// The result of the lookup of a prompt.
struct PromptLookup {
  std::span<const TokenId> prompt;
  /// Keys of the full blocks of the prompt. Each key covers the prefix up to the end of the block.
  std::span<const trace::BlockKey> keys;
  trace::BlockKey root;           ///< key of the empty prefix
  std::vector<BlockId> found;     ///< hits, in the order of the prompt
  std::vector<MovedBlock> moved;  ///< the relocated blocks after the hits
  std::size_t kept = 0;           ///< number of blocks of the prompt in the cache, including hits
  bool usesCache = true;          ///< false: there was no lookup
};

/// Receives the events of a cache. Block numbers begin at 1. Calls come in the order of the events. A request
/// name is valid from the lookup of the request to its end.
class CacheObserver {
 public:
  virtual ~CacheObserver() = default;

  /// A request is admitted. The hits of the request follow as shared(), the misses as taken().
  virtual void lookedUp(const std::string& request, const PromptLookup& lookup) = 0;
  virtual void admitted(const std::string& request) = 0;
  /// The request is refused. No other event of this request follows.
  virtual void refused(const std::string& request) = 0;
  /// A token of the answer was sampled. Events about its blocks follow when the token is computed.
  virtual void sampled(const std::string& request, TokenId token) = 0;
  /// A block that is a hit gets one more user, as block `index` of the request.
  virtual void shared(const std::string& request, BlockId block, std::size_t index) = 0;
  /// A block without users and without a findable content is allocated.
  virtual void taken(const std::string& request, BlockId block, std::size_t index) = 0;
  /// Lookups can find the block from now on, or can find the block at another place than before.
  virtual void stored(const std::string& request, BlockId block, std::size_t index,
                      const trace::BlockKey& key, const trace::BlockKey& parent,
                      std::span<const TokenId> tokens) = 0;
  /// Lookups can no longer find the block. The name of the request may be empty.
  virtual void removed(const std::string& request, BlockId block, trace::RemovalReason reason) = 0;
  /// A block has one user fewer.
  virtual void released(const std::string& request, BlockId block) = 0;
  /// The content of a block was copied to host memory.
  virtual void savedToHost(const std::string& request, BlockId block) = 0;
  /// A newly allocated block got a content from host memory.
  virtual void loadedFromHost(const std::string& request, BlockId block, std::size_t index,
                              const trace::BlockKey& key) = 0;
};

/// Returns keys of the full blocks of a token sequence that begins at `root`.
std::vector<trace::BlockKey> chainKeys(const trace::BlockKey& root, std::span<const TokenId> tokens,
                                       std::size_t blockSize);
/// Returns the root of a salt or another name.
trace::BlockKey rootKey(std::string_view name);

/// Allocates block numbers for a server without block numbers. Freed numbers are allocated first, in reverse
/// order of freeing. Then new numbers follow.
class BlockNumbers {
 public:
  BlockId take();
  void giveBack(BlockId block) { m_free.push_back(block); }

 private:
  std::vector<BlockId> m_free;
  BlockId m_next = 1;
};

/// Observes a cache during its lifetime.
template <class Cache>
class Watching {
 public:
  Watching(Cache& cache, CacheObserver* observer) : m_cache(cache) { m_cache.watch(observer); }
  ~Watching() { m_cache.watch(nullptr); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;
  Watching(Watching&&) = delete;
  Watching& operator=(Watching&&) = delete;

 private:
  Cache& m_cache;
};

struct Server;

/// A simulated session.
struct TracedSession {
  std::string program;  ///< tracedProgram()
  std::string setup;    ///< "blocks of 16 tokens"
  std::string model;    ///< directory of the model of the tokens; empty: none
  CacheShape shape;
};

/// Returns the name of the program in a trace of a simulator.
std::string tracedProgram(const Server& server);
/// Returns the text that simulated runs have as their policy.
std::string tracedPolicy(const std::string& title);

/// The run, request and node of a request's events.
struct TracedRequest {
  RunId run = 0;
  RequestId request = 0;
  NodePath node{};
  StepIndex step = 0;
};

/// Reports what happens in a cache as events of a trace, with the reason of each miss. A derived class
/// decides where the events go.
class CacheEvents : public CacheObserver {
 public:
  /// `shape`: of the cache.
  explicit CacheEvents(const CacheShape& shape) : m_shape(shape) {}

  void lookedUp(const std::string& request, const PromptLookup& lookup) override;
  void admitted(const std::string& request) override;
  void refused(const std::string& request) override;
  void shared(const std::string& request, BlockId block, std::size_t index) override;
  void taken(const std::string& request, BlockId block, std::size_t index) override;
  void stored(const std::string& request, BlockId block, std::size_t index, const trace::BlockKey& key,
              const trace::BlockKey& parent, std::span<const TokenId> tokens) override;
  void removed(const std::string& request, BlockId block, trace::RemovalReason reason) override;
  void released(const std::string& request, BlockId block) override;
  void savedToHost(const std::string& request, BlockId block) override;
  void loadedFromHost(const std::string& request, BlockId block, std::size_t index,
                      const trace::BlockKey& key) override;

  /// Emits an event. Returns its sequence number.
  virtual std::uint64_t emitEvent(const TracedRequest& about, trace::Payload payload) = 0;

 protected:
  /// Returns the request with this name.
  virtual const TracedRequest& of(const std::string& name) const = 0;

  const CacheShape& shape() const { return m_shape; }
  /// Number of the highest block so far, plus 1.
  std::size_t usedBlocks() const { return m_blocks.size(); }
  /// Returns an empty pool with this number of blocks, including the null block.
  trace::PoolState emptyPool(std::size_t blocks) const;
  /// Forgets contents that are in no block, if there are more than `most`. A later miss of such a content is
  /// no longer reported as an eviction.
  void forgetRemoved(std::size_t most);
  /// Emits the events that turn the blocks of `before` into the blocks of this object. `about`: the request
  /// that causes the changes. Also takes over the sequence numbers of removals from `before`.
  void emitChanges(const CacheEvents& before, const TracedRequest& about);

 private:
  struct KeyHash {
    std::size_t operator()(const trace::BlockKey& key) const noexcept { return key.low ^ key.high; }
  };
  /// A content that was once stored under a key.
  struct Content {
    std::vector<TokenId> tokens;
    std::vector<BlockId> blocks;  ///< the blocks with this content
    std::uint64_t removedBy = 0;  ///< sequence number of the last BlockRemoved
  };
  struct Block {
    std::int32_t references = 0;
    bool isCached = false;
    trace::BlockKey key;
    trace::BlockKey parent;
    std::int32_t virtualIndex = 0;
    TracedRequest storedBy;
  };
  struct Nearest {
    BlockId block = kNullBlock;
    std::int32_t common = 0;
    TokenId token = -1;  ///< the first different token; −1: the block ends there
  };

  Block& at(BlockId block);
  void traceStoredBy(BlockId block, trace::BlockLookedUp& facts) const;
  void explain(const PromptLookup& lookup, std::size_t index, bool isFirst,
               trace::BlockLookedUp& facts) const;
  std::optional<Nearest> nearest(const trace::BlockKey& parent, std::span<const TokenId> tokens) const;

  const CacheShape m_shape;
  std::map<RequestId, trace::RequestAdmitted> m_sums;  ///< of requests that are not admitted yet
  std::size_t m_removed = 0;                           ///< removals since contents were forgotten
  std::vector<Block> m_blocks = std::vector<Block>(1);
  std::unordered_map<trace::BlockKey, Content, KeyHash> m_contents;
  std::unordered_map<trace::BlockKey, std::vector<trace::BlockKey>, KeyHash> m_children;
};

/// Keeps the events as a trace.
class CacheTracer final : public CacheEvents {
 public:
  /// `show` returns the displayed text of a token.
  CacheTracer(TracedSession session, std::function<std::string(TokenId)> show);

  /// Adds also an event that the cache does not emit.
  std::uint64_t emitEvent(const TracedRequest& about, trace::Payload payload) override;
  /// Assigns later events of the request with this name to `request`.
  void follow(const std::string& name, TracedRequest request) { m_requests[name] = std::move(request); }
  /// Changes the payload of an earlier event.
  void amend(std::uint64_t sequence, trace::Payload payload);
  std::string shown(TokenId token) const { return m_show(token); }
  /// Returns all events so far. The session's start comes first.
  std::vector<trace::Event> events() const;

  void sampled(const std::string& request, TokenId token) override;

 private:
  const TracedRequest& of(const std::string& name) const override;
  trace::PoolState pool() const;

  TracedSession m_session;
  std::function<std::string(TokenId)> m_show;
  std::vector<trace::Event> m_events;  ///< the first event is SessionStarted
  std::map<std::string, TracedRequest> m_requests;
  std::map<RequestId, std::int32_t> m_sampled;
};

/// Renumbers the runs and requests of a trace, so that they follow `lastRun` and `lastRequest`.
void countFrom(std::vector<trace::Event>& events, RunId lastRun, RequestId lastRequest);

/// Writes a scenario as one run. Each request of the scenario is a step, in the order of arrival. The query
/// of the run lists the requests. The text of the tokens is unknown.
class ScenarioTrace {
 public:
  explicit ScenarioTrace(const Server& server) : m_server(server) {}

  /// Begins the scenario. Returns the observer for its cache.
  CacheObserver& begin(std::string setup, const CacheShape& shape);
  /// Begins a request. An earlier request with this name must have ended.
  void start(const std::string& request, std::span<const TokenId> prompt);
  void end(const std::string& request) { finish(request, trace::StepOutcome::EndToken); }
  /// Ends a request that is refused or loses its blocks.
  void fail(const std::string& request) { finish(request, trace::StepOutcome::Failed); }
  /// Adds a message about a running request.
  void say(const std::string& request, std::string text);
  /// Returns all events, including those of unfinished requests. Returns nothing before begin().
  std::vector<trace::Event> events();

 private:
  void finish(const std::string& request, trace::StepOutcome outcome);

  const Server& m_server;
  std::optional<CacheTracer> m_tracer;
  std::uint64_t m_runStarted = 0;
  std::uint64_t m_planMade = 0;
  std::vector<std::string> m_titles;  ///< titles of the steps
  std::map<std::string, TracedRequest> m_running;
};

}  // namespace spanscope::simulator
