// SPDX-License-Identifier: GPL-3.0-or-later
// Watches a running server: receives its KV events, reads its metrics and slots, and writes everything as one
// trace. Open this file first when a watched server shows nothing.
#pragma once

#include "engine/remote/http/http_client.h"
#include "engine/remote/watch/event_subscriber.h"
#include "engine/remote/watch/watch_clock.h"
#include "engine/remote/watch/watched_runs.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/recorder.h"
#include "engine/trace/sink.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::watch {

struct WatchConfig {
  std::string url{};  ///< address of the server's API; empty: only the events are known
  remote::HttpAccess access{};
  /// The sources of KV events, one for each rank of data parallelism. Empty: none.
  std::vector<SubscriberConfig> publishers{};
  /// Directory of the model, for the trace; empty: the server's name for the model.
  std::string model{};
  std::shared_ptr<const text::Tokenizer> tokenizer{};  ///< null: the texts of tokens are unknown
  std::chrono::milliseconds metricsPeriod{1000};       ///< between two reads of /metrics
  std::chrono::milliseconds slotsPeriod{200};          ///< between two reads of /slots
  /// The time of the trace; never null. The recorder of the events must have this clock.
  std::shared_ptr<WatchClock> clock = std::make_shared<WatchClock>();
};
/// Returns options for the recorder of a watch.
trace::RecorderOptions recorderOptions(const WatchConfig& config);

/// The state of a watch, for the user.
struct WatchState {
  std::string server;                 ///< "vLLM 0.32.0"; empty: not known yet
  std::uint64_t messages = 0;         ///< received messages
  std::uint64_t events = 0;           ///< events in these messages
  std::uint64_t gaps = 0;             ///< gaps in the numbers of messages
  std::uint64_t lost = 0;             ///< gaps that could not be filled
  std::int64_t cached = 0;            ///< blocks that lookups can find
  std::int64_t unknown = 0;           ///< blocks with unknown content
  std::uint64_t tasks = 0;            ///< requests of a llama-server
  std::optional<TokenTotals> tokens;  ///< since the watch began; nothing: not reported
  std::string problem;                ///< why nothing comes, or the last problem; empty: none
  bool hasEnded = false;              ///< nothing will come any more
};

/// Reads the totals of a server from its Prometheus metrics; nothing: not reported. Knows the names of vLLM,
/// SGLang, llama-server and spanq serve.
std::optional<TokenTotals> totalsIn(const std::string& metrics);

/// Watches a server until the object is destroyed. Destruction takes less than 100 ms. The trace has:
/// - with publishers: blocks, sequences and evictions (watched_cache.h);
/// - for a llama-server: slots and requests (watched_slots.h);
/// - with an address: totals of prompt tokens and cached tokens, if the server reports them.
class Watch {
 public:
  /// Throws Failure if the address or an endpoint is wrong, or if the configuration has no address and no
  /// endpoint. `sink` must outlive the object, and gets events on other threads.
  Watch(WatchConfig config, trace::Sink& sink);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Any thread may call this.
  WatchState state() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::watch
