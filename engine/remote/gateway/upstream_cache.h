// SPDX-License-Identifier: GPL-3.0-or-later
// The simulated cache of one upstream server, fed with the prompts that the gateway sends. Open this file
// when the gateway predicts or orders wrongly.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/simulator/order/child_order.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/tracing/cache_tracer.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::gateway {

/// The simulator's answer for a prompt.
struct CachePrediction {
  simulator::Answer answer;
  bool isOfServer = false;  ///< false: the kind of server has no simulator, so this is only an estimate
};

/// Any thread may call the functions. One call takes time in proportion to its prompts, not to the cache. The
/// exception is drop(), if other requests or time passed since begin().
///
/// Prompts are served in the order of begin(). A prompt counts as computed as soon as serve() or another call
/// needs its contents. drop() takes the prompt back.
class UpstreamCache {
 public:
  /// `sink` gets the events of the cache, and must outlive the object.
  explicit UpstreamCache(trace::Sink& sink);
  ~UpstreamCache();
  UpstreamCache(const UpstreamCache&) = delete;
  UpstreamCache& operator=(const UpstreamCache&) = delete;

  /// Opens the simulator of a server with these facts. If there is one with the same settings, the function
  /// does nothing.
  void use(const remote::ServerFacts& facts);
  /// The name of the simulator: "vLLM 0.33.0". Empty: the kind of server has no simulator.
  std::string title() const;
  /// Emits the start of the session with the empty pool, once. The other arguments describe the session.
  void startSession(const std::string& program, const std::string& model, const std::string& server);

  /// Returns the number of cached tokens of a prompt. 0 for a server without prefix caching.
  std::int64_t cached(std::span<const TokenId> prompt);
  /// Chooses the order of a prompt. Nothing: the server has no prefix caching.
  std::optional<simulator::ChosenOrder> order(const simulator::PromptPart& prompt);
  /// Counts the parts of a prompt for later orders.
  void count(const simulator::PromptPart& prompt);

  /// Begins a prompt that was sent to the server, after startSession(). Returns its number for the other
  /// functions. 0: the server has no prefix caching.
  std::uint64_t begin(std::span<const TokenId> prompt, const simulator::TracedRequest& about);
  /// Serves the prompts up to this one. Emits the events of the cache if the kind of server has a simulator.
  void serve(std::uint64_t number);
  /// Ends a prompt that the server has computed. `sequence`: the prompt and the sampled answer. Empty: the
  /// answer is not known. Nothing: the number is 0, or the settings of the server have changed.
  std::optional<CachePrediction> end(std::uint64_t number, std::span<const TokenId> sequence);
  /// Ends a prompt that the server has not computed. The cache is then as without this prompt, unless the
  /// simulator refuses the prompt, too. The simulator then knows which slot the server has used.
  void drop(std::uint64_t number);

 private:
  class Reporter;
  /// A simulator, and the state of the events about its blocks.
  struct Contents {
    std::unique_ptr<simulator::Simulator> simulator;  ///< null: no prefix caching
    std::unique_ptr<Reporter> reporter;               ///< null: no blocks are recorded
    Contents();
    Contents(Contents&&) noexcept;
    Contents& operator=(Contents&&) noexcept;
    ~Contents();
    Contents copy() const;
  };
  /// A prompt, or a prompt with its answer.
  struct Operation {
    std::uint64_t number = 0;
    simulator::TracedRequest about;
    std::vector<TokenId> tokens;
    bool isPrompt = true;
    bool isBeside = false;   ///< simulator::Request::isBeside
    bool isServed = false;   ///< `m_now` contains the operation
    bool isSettled = false;  ///< the operation is not dropped later
  };

  struct Running {
    simulator::TracedRequest about;
    simulator::Answer answer{};  ///< after serve()
  };

  static simulator::Answer apply(const Operation& operation, Contents& contents);
  void serveUpTo(std::uint64_t number);
  void settle();
  trace::PoolState pool() const;

  trace::Sink& m_sink;
  mutable std::mutex m_mutex;
  remote::ServerFacts m_facts;
  const simulator::Server* m_kind = nullptr;  ///< null: the kind of server has no simulator
  std::string m_setup;
  Contents m_now;
  Contents m_settled;  ///< without `m_operations`; emits no events.
  /// The operations that can still be dropped, and all operations after them.
  std::deque<Operation> m_operations;
  std::size_t m_tokens = 0;  ///< of `m_operations`
  std::uint64_t m_last = 0;
  std::map<std::uint64_t, Running> m_running;  ///< prompts that have not ended, by number
  simulator::PartCounts m_counts;
  bool m_hasStarted = false;  ///< the session
};

}  // namespace spanscope::gateway
