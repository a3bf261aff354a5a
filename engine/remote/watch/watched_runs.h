// SPDX-License-Identifier: GPL-3.0-or-later
// The runs in the trace of a watched server. Open this file to change how long a run is.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::watch {

/// The facts about a watched server before its first event.
struct WatchedServer {
  std::string program;         ///< "vLLM 0.32.0"; the trace marks the name as watched
  std::string address;         ///< "http://127.0.0.1:8000", or the first endpoint of events
  std::string model;           ///< directory of the model of the tokens, or the server's name for the model
  std::int32_t blockSize = 0;  ///< tokens; 0: unknown until the first stored block
  std::int64_t blocks = 0;     ///< number of blocks that can be stored; 0: unknown
  bool hasBlocks = true;       ///< false: no events about blocks come, so the trace has no pool
  bool countsTokens = false;   ///< whether totals of tokens come
};

/// Divides the trace into runs of about 10 s, so that views over runs show the time. All runs have the same
/// query. The query has one step for each kind of request of the trace, so views can name the kinds.
class WatchedRuns {
 public:
  static constexpr std::int64_t kTime = 10'000'000'000;  ///< min time of a run, in nanoseconds

  /// `kinds`: the text of each step, at least one. `sink` must outlive the object.
  WatchedRuns(trace::Sink& sink, WatchedServer server, const std::vector<std::string>& kinds);

  /// Emits the start of the session.
  void openSession(trace::PoolState pool);
  /// Begins a run if none is open, or if the open run is too old.
  void open(std::int64_t now);
  /// Ends a run that is too old.
  void tick(std::int64_t now);
  void close();
  RunId run() const { return m_run; }  ///< the newest run; 0: none

  /// Begins a request of a kind in the newest run.
  RequestId begin(StepIndex kind);
  /// Sends an event of a request to `run`.
  std::uint64_t send(RunId run, RequestId request, StepIndex kind, trace::Payload payload);
  /// Sends an event about no request to the newest run.
  std::uint64_t send(trace::Payload payload);
  void say(Severity severity, std::string text, std::int64_t now);

  const WatchedServer& server() const { return m_server; }
  const NodePath& node(StepIndex kind) const { return m_nodes[kind]; }

 private:
  trace::Sink& m_sink;
  const WatchedServer m_server;
  std::string m_queryJson;
  std::vector<NodePath> m_nodes;        ///< by kind
  std::vector<std::uint32_t> m_copies;  ///< requests of the newest run, by kind
  RunId m_run = 0;
  bool m_isOpen = false;
  std::int64_t m_begin = 0;
  RequestId m_lastRequest = 0;
};

/// Running totals of a server since its start.
struct TokenTotals {
  std::int64_t prompt = 0;  ///< tokens of prompts
  std::int64_t cached = 0;  ///< prompt tokens that were cache hits
  bool operator==(const TokenTotals&) const = default;
};

/// The growth of a server's totals.
class TokenGrowth {
 public:
  /// Returns true for the first totals, which are only the baseline. Smaller totals come from a server that
  /// has restarted.
  bool take(const TokenTotals& totals);
  /// The growth at the last take().
  const TokenTotals& last() const { return m_last; }
  /// The growth since the first take().
  const TokenTotals& sum() const { return m_sum; }

 private:
  std::optional<TokenTotals> m_totals;
  TokenTotals m_last;
  TokenTotals m_sum;
};

/// Writes the growth of totals as one request, which is the sum of several requests of the server. Writes
/// nothing without prompt tokens. `kind`: the step of such requests.
void writeTotals(WatchedRuns& runs, StepIndex kind, const TokenTotals& growth, std::int64_t now);

}  // namespace spanscope::watch
