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

/// Any thread may call the functions. One call takes time in proportion to its prompt, not to the cache.
///
/// A prompt counts as computed when it is sent. The end of its answer adds the answer to the cache.
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
  std::int64_t cached(std::span<const TokenId> prompt) const;
  /// Chooses the order of a prompt. Nothing: the server has no prefix caching.
  std::optional<simulator::ChosenOrder> order(const simulator::PromptPart& prompt) const;
  /// Counts the parts of a prompt for later orders.
  void count(const simulator::PromptPart& prompt);

  /// Serves a prompt, after startSession(). Emits the events of the cache if the kind of server has a
  /// simulator. Nothing: the server has no prefix caching.
  std::optional<CachePrediction> begin(std::span<const TokenId> prompt,
                                       const simulator::TracedRequest& about);
  /// Ends a prompt for which begin() returned a prediction. `sequence`: the prompt and the sampled answer.
  /// Empty: the answer is not known.
  void end(std::span<const TokenId> sequence, const simulator::TracedRequest& about);

 private:
  class Reporter;

  simulator::Answer serve(std::span<const TokenId> prompt, const simulator::TracedRequest& about,
                          bool isPrompt);
  trace::PoolState pool() const;

  trace::Sink& m_sink;
  mutable std::mutex m_mutex;
  remote::ServerFacts m_facts;
  const simulator::Server* m_kind = nullptr;  ///< null: the kind of server has no simulator
  std::string m_setup;
  std::unique_ptr<simulator::Simulator> m_simulator;  ///< null: no prefix caching
  std::unique_ptr<Reporter> m_reporter;               ///< null: no blocks are recorded
  simulator::PartCounts m_counts;
  std::size_t m_running = 0;
  bool m_hasStarted = false;  ///< the session
};

}  // namespace spanscope::gateway
