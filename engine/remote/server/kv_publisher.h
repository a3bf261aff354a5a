// SPDX-License-Identifier: GPL-3.0-or-later
// Publishes KV events over ZeroMQ. Open this file to change the sockets of KV events.
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
  std::uint64_t keptBytes = std::uint64_t{64} << 20U;  ///< max bytes for replays
};

/// Publishes batches of events over ZeroMQ, like vLLM's ZmqEventPublisher. publish() never waits. Without
/// readers, messages are dropped, which the numbers show. There are two sockets:
/// - A PUB socket sends messages of three frames: topic, sequence number from 0 in 8 bytes, payload.
/// - A ROUTER socket replays. A DEALER sends ["", first sequence number]. It gets one ["", topic, number,
///   payload] per message, then ["", "", −1, ""].
class KvPublisher {
 public:
  /// Throws Failure for an endpoint that cannot be opened, or that other machines could reach. ZeroMQ has no
  /// keys.
  explicit KvPublisher(KvPublisherConfig config);
  ~KvPublisher();  ///< sends the published messages first, with a short time limit
  KvPublisher(const KvPublisher&) = delete;
  KvPublisher& operator=(const KvPublisher&) = delete;

  /// Returns the endpoint with its actual port. Empty: there is none.
  std::string endpoint() const;
  std::string replayEndpoint() const;

  /// Any thread may call this.
  void publish(std::vector<KvEvent> events);

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::server
