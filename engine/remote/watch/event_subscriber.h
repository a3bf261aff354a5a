// SPDX-License-Identifier: GPL-3.0-or-later
// Receives the KV events of a server over ZeroMQ, and requests missing messages again. Open this file when
// events of a server do not arrive.
#pragma once

#include "engine/base/error.h"
#include "engine/remote/server/kv_events.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace spanscope::watch {

struct SubscriberConfig {
  /// "tcp://gpu-3:5557", "ipc://FILE". An address with * is bound, because such a publisher connects:
  /// "tcp://*:5557".
  std::string endpoint;
  std::string replayEndpoint{};  ///< empty: missing messages cannot be requested
  std::string topic{};           ///< the beginning of the topics; empty: all
  bool binds = false;            ///< binds the endpoint, also without *
  std::uint64_t first = 0;       ///< number of the first needed message; earlier ones are left out
};

/// Receives the messages and the gaps of a subscriber, in order. All calls come from the subscriber's thread.
class SubscriberListener {
 public:
  virtual ~SubscriberListener() = default;

  /// The next message. Numbers are consecutive except after gapEnded(false), startedLate() and restarted().
  virtual void received(std::uint64_t number, const server::KvBatch& batch) = 0;
  /// The first message has the number `first`, and earlier messages cannot be replayed.
  virtual void startedLate(std::uint64_t first) = 0;
  virtual void gapBegan(std::uint64_t missing) = 0;
  virtual void gapEnded(bool isFilled) = 0;
  /// The publisher has restarted, and counts from 0.
  virtual void restarted() = 0;
  /// A message could not be read. The message counts as missing.
  virtual void refused(const Error& error) = 0;
};

/// A thread that receives messages until the object is destroyed. Destruction takes less than 100 ms.
/// Rules for the order of messages:
/// - At the beginning, all messages from SubscriberConfig::first on are requested from the replay endpoint.
/// - If a number is missing, newer messages wait for the replay endpoint, for at most 2 s without a message.
/// - A message that was received before is dropped. A lower number with a later time is a restart.
class EventSubscriber {
 public:
  /// Throws Failure for an endpoint that cannot be opened. `listener` must outlive the object.
  EventSubscriber(SubscriberConfig config, SubscriberListener& listener);
  ~EventSubscriber();
  EventSubscriber(const EventSubscriber&) = delete;
  EventSubscriber& operator=(const EventSubscriber&) = delete;

  /// The number of the next message. A new subscriber can continue from this number.
  std::uint64_t next() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::watch
