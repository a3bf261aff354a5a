// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/server/kv_events.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spanscope::server {

struct KvPublisherConfig {
  std::string endpoint;        ///< "tcp://127.0.0.1:5557"
  std::string replayEndpoint;  ///< empty: nothing is replayed
  std::string topic = "kv-events";
  std::size_t keptBatches = 10'000;                    ///< for replays
  std::uint64_t keptBytes = std::uint64_t{64} << 20U;  ///< and what they may take
};

/// Publishes batches of events over ZeroMQ, as vLLM's ZmqEventPublisher does: PUB messages of three frames
/// (topic, sequence number from 0 in 8 bytes, payload), and a ROUTER that sends again what a DEALER asks for:
/// ["", first sequence number], answered by ["", topic, number, payload] each and ["", "", −1, ""] at the
/// end. publish() never waits: where nobody takes the messages, they are dropped, which the numbers show.
class KvPublisher {
 public:
  /// Throws Failure for an endpoint that cannot be had, or that others than this machine could reach: ZeroMQ
  /// asks nobody for a key.
  explicit KvPublisher(KvPublisherConfig config);
  ~KvPublisher();  ///< what was published goes out first, for a moment
  KvPublisher(const KvPublisher&) = delete;
  KvPublisher& operator=(const KvPublisher&) = delete;

  /// The endpoints with the ports that were taken; empty: there is none.
  std::string endpoint() const;
  std::string replayEndpoint() const;

  /// On any thread.
  void publish(std::vector<KvEvent> events);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::server
