// SPDX-License-Identifier: GPL-3.0-or-later
// Tells what a twin does as a trace: a session of its own, which the same views draw as those of the engine.
// A twin computes nothing, so the trace has no times (all events stand at 0), no passes and no attention.
#pragma once

#include "engine/twin/telling/cache_observer.h"

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

namespace spanscope::twin {

struct Server;

/// A session that is foretold.
struct ToldSession {
  std::string program;  ///< toldProgram()
  std::string setup;    ///< "blocks of 16 tokens"
  std::string model;    ///< directory of the model whose tokens are served; empty: none
  CacheShape shape;
};

/// "vLLM 0.33.0 (twin)": what a trace of a twin names as the program.
std::string toldProgram(const Server& server);
/// "vLLM, foretold": what its runs have in place of a policy.
std::string toldPolicy(const std::string& title);

/// Whose events those of a request are.
struct ToldRequest {
  RunId run = 0;
  RequestId request = 0;
  NodePath node{};
  StepIndex step = 0;
};

class CacheTeller final : public CacheObserver {
 public:
  /// `show` makes the text by which a token is shown.
  CacheTeller(ToldSession session, std::function<std::string(TokenId)> show);

  /// Tells an event beside those of the cache. Gives its sequence number.
  std::uint64_t tell(const ToldRequest& about, trace::Payload payload);
  /// The events of the request with this name are from now on those of `request`.
  void follow(const std::string& name, ToldRequest request) { m_requests[name] = std::move(request); }
  /// Changes the payload of an event that was told.
  void amend(std::uint64_t sequence, trace::Payload payload);
  std::string shown(TokenId token) const { return m_show(token); }
  /// All events so far, with the session's start before them.
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
  /// What was once stored under a key.
  struct Content {
    std::vector<TokenId> tokens;
    std::vector<BlockId> blocks;  ///< that it stands in
    std::uint64_t removedBy = 0;  ///< sequence number of the last BlockRemoved
  };
  struct Block {
    std::int32_t references = 0;
    bool isCached = false;
    trace::BlockKey key;
    ToldRequest storedBy;
    std::size_t index = 0;
  };
  struct Nearest {
    BlockId block = kNullBlock;
    std::int32_t common = 0;
    TokenId token = -1;  ///< the first that differs; −1: it ends there
  };

  const ToldRequest& of(const std::string& name) const;
  Block& at(BlockId block);
  void tellStoredBy(BlockId block, trace::BlockLookedUp& facts) const;
  void explain(const PromptLookup& lookup, std::size_t index, bool isFirst,
               trace::BlockLookedUp& facts) const;
  std::optional<Nearest> nearest(const trace::BlockKey& parent, std::span<const TokenId> tokens) const;
  trace::PoolState pool() const;

  ToldSession m_session;
  std::function<std::string(TokenId)> m_show;
  std::vector<trace::Event> m_events;  ///< the first is the session's start
  std::map<std::string, ToldRequest> m_requests;
  std::map<RequestId, trace::RequestAdmitted> m_sums;
  std::map<RequestId, std::int32_t> m_sampled;
  std::vector<Block> m_blocks = std::vector<Block>(1);
  std::unordered_map<trace::BlockKey, Content, KeyHash> m_contents;
  std::unordered_map<trace::BlockKey, std::vector<trace::BlockKey>, KeyHash> m_children;
};

/// Gives the runs and requests of a trace numbers behind these.
void countFrom(std::vector<trace::Event>& events, RunId lastRun, RequestId lastRequest);

/// Tells a scenario as one run: each of its requests is a step of it, in the order in which they come. Its
/// query names the requests; what their tokens say is not known.
class ScenarioStory {
 public:
  explicit ScenarioStory(const Server& server) : m_server(server) {}

  /// The scenario begins. Gives whom its cache is to tell.
  CacheObserver& begin(std::string setup, const CacheShape& shape);
  /// A request comes. One of this name may have been there, and ended.
  void start(const std::string& request, std::span<const TokenId> prompt);
  void end(const std::string& request) { finish(request, trace::StepOutcome::EndToken); }
  /// It is refused, or loses its room.
  void fail(const std::string& request) { finish(request, trace::StepOutcome::Failed); }
  /// Says something of a request that is there.
  void say(const std::string& request, std::string text);
  /// The whole story; what has not ended by then is told as it stands. Empty if it has not begun.
  std::vector<trace::Event> events();

 private:
  void finish(const std::string& request, trace::StepOutcome outcome);

  const Server& m_server;
  std::optional<CacheTeller> m_teller;
  std::uint64_t m_runStarted = 0;
  std::uint64_t m_planMade = 0;
  std::vector<std::string> m_titles;  ///< of the steps
  std::map<std::string, ToldRequest> m_running;
};

}  // namespace spanscope::twin
