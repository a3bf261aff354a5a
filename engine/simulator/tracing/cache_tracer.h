// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the events of a cache simulator as a trace. The trace is a separate session, which all views can
// show. A simulator computes no tokens. The trace therefore has no times (all events are at 0), no forward
// passes and no attention. Open this file to change such traces.
#pragma once

#include "engine/simulator/tracing/cache_observer.h"

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

class CacheTracer final : public CacheObserver {
 public:
  /// `show` returns the displayed text of a token.
  CacheTracer(TracedSession session, std::function<std::string(TokenId)> show);

  /// Adds an event that the cache does not emit. Returns its sequence number.
  std::uint64_t emitEvent(const TracedRequest& about, trace::Payload payload);
  /// Assigns later events of the request with this name to `request`.
  void follow(const std::string& name, TracedRequest request) { m_requests[name] = std::move(request); }
  /// Changes the payload of an earlier event.
  void amend(std::uint64_t sequence, trace::Payload payload);
  std::string shown(TokenId token) const { return m_show(token); }
  /// Returns all events so far. The session's start comes first.
  std::vector<trace::Event> events() const;

  void lookedUp(const std::string& request, const PromptLookup& lookup) override;
  void admitted(const std::string& request) override;
  void refused(const std::string& request) override;
  void sampled(const std::string& request, TokenId token) override;
  void shared(const std::string& request, BlockId block, std::size_t index) override;
  void taken(const std::string& request, BlockId block, std::size_t index) override;
  void stored(const std::string& request, BlockId block, std::size_t index, const trace::BlockKey& key,
              const trace::BlockKey& parent, std::span<const TokenId> tokens) override;
  void removed(const std::string& request, BlockId block, trace::RemovalReason reason) override;
  void released(const std::string& request, BlockId block) override;
  void savedToHost(const std::string& request, BlockId block) override;
  void loadedFromHost(const std::string& request, BlockId block, std::size_t index,
                      const trace::BlockKey& key) override;

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
    TracedRequest storedBy;
    std::size_t index = 0;
  };
  struct Nearest {
    BlockId block = kNullBlock;
    std::int32_t common = 0;
    TokenId token = -1;  ///< the first different token; −1: the block ends there
  };

  const TracedRequest& of(const std::string& name) const;
  Block& at(BlockId block);
  void traceStoredBy(BlockId block, trace::BlockLookedUp& facts) const;
  void explain(const PromptLookup& lookup, std::size_t index, bool isFirst,
               trace::BlockLookedUp& facts) const;
  std::optional<Nearest> nearest(const trace::BlockKey& parent, std::span<const TokenId> tokens) const;
  trace::PoolState pool() const;

  TracedSession m_session;
  std::function<std::string(TokenId)> m_show;
  std::vector<trace::Event> m_events;  ///< the first event is SessionStarted
  std::map<std::string, TracedRequest> m_requests;
  std::map<RequestId, trace::RequestAdmitted> m_sums;
  std::map<RequestId, std::int32_t> m_sampled;
  std::vector<Block> m_blocks = std::vector<Block>(1);
  std::unordered_map<trace::BlockKey, Content, KeyHash> m_contents;
  std::unordered_map<trace::BlockKey, std::vector<trace::BlockKey>, KeyHash> m_children;
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
