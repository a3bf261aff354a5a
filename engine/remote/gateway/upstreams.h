// SPDX-License-Identifier: GPL-3.0-or-later
// The upstream servers of a gateway: their state, their idle connections, and which of them gets a request.
// Open this file to change the routing.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/gateway/gateway.h"
#include "engine/remote/gateway/passed_run.h"
#include "engine/remote/gateway/upstream_link.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace spanscope::gateway {

/// Any thread may call the functions.
class Upstream {
 public:
  Upstream(UpstreamConfig config, RunBook& book);

  const UpstreamConfig& config() const { return m_config; }
  UpstreamTrace& trace() { return m_trace; }
  UpstreamState state() const;
  /// "gpu-3:8000", for the field Host.
  const std::string& host() const { return m_host; }
  /// Returns the path and query of a request at this server. `target`: as sent by the client.
  std::string targetOf(std::string_view target) const;
  /// Whether the server lists the model, or lists no models.
  bool mayServe(const std::string& model) const;

  /// Returns an idle connection, or a new one. Throws Failure.
  std::unique_ptr<UpstreamLink> link(bool mayBeIdle = true);
  /// Keeps a connection for the next request.
  void keep(std::unique_ptr<UpstreamLink> link);

  /// Counts a running request until the object ends.
  class Running {
   public:
    explicit Running(Upstream& upstream);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Upstream& m_upstream;
  };
  std::size_t running() const;
  void succeeded();
  /// The server could not be reached. For a few seconds, the other servers with the same model come first.
  void failed(const std::string& problem);
  bool isDown() const;

  /// Asks the server for its facts.
  void ask(const std::stop_token& stop);
  /// A client's key with which the server answers. If the server needs a key to report its facts, and the
  /// configuration has no key, ask() uses this key.
  void offerKey(const std::string& key);
  /// Whether the facts have to be asked for now.
  bool isDueToAsk() const;

 private:
  using Clock = std::chrono::steady_clock;

  const UpstreamConfig m_config;
  UpstreamTrace m_trace;
  std::string m_root;  ///< path before /v1
  std::string m_host;
  mutable std::mutex m_mutex;
  bool m_isKnown = false;
  std::string m_problem;
  std::optional<Clock::time_point> m_downUntil;
  std::optional<Clock::time_point> m_askAt;
  std::string m_clientKey;  ///< only in memory
  std::size_t m_running = 0;
  std::uint64_t m_answered = 0;
  std::vector<std::unique_ptr<UpstreamLink>> m_idle;
};

/// Puts the messages of a request in the order that the cache of a server serves best. Adds the notes of the
/// server's configuration. Counts the parts of the request for later orders. Nothing: the request is
/// unchanged. Reasons: the request has no choice, the server has no prefix caching or keeps the order, or the
/// template fails.
std::optional<remote::SentOrder> putInOrderFor(Upstream& upstream, exports::ChatRequest& request,
                                               const RunBook& book);

/// The upstream servers in the order in which they are tried for a request.
struct Turn {
  std::vector<Upstream*> upstreams;             ///< never empty
  std::shared_ptr<Upstream::Running> reserved;  ///< the request counts as running on the first server
};

/// Orders the upstream servers, at least one, for a request. `routing` is locked, so that requests at the
/// same time see each other:
///
/// 1. Servers that do not list `model` come last, even after servers that are down.
/// 2. Servers that are down come later.
/// 3. Servers with more than `mostAhead` running requests more than the server with the fewest come later.
/// 4. The server with the most cached tokens of `prompt` comes first.
/// 5. Then the fewest running requests and the fewest answered requests decide.
Turn inTurn(const std::vector<std::unique_ptr<Upstream>>& upstreams, const std::string& model,
            std::span<const TokenId> prompt, std::size_t mostAhead, std::mutex& routing);

}  // namespace spanscope::gateway
