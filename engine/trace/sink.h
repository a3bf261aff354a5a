// SPDX-License-Identifier: GPL-3.0-or-later
// The interface to which the engine emits events. Open this file to receive events.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>

namespace spanscope::trace {

/// Receives the events of the engine.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Gives an event its sequence number and time, and passes it on. Returns the sequence number. Never waits
  /// for a consumer of events.
  virtual std::uint64_t send(RunId run, RequestId request, const NodePath& node, Payload payload) = 0;
};

/// A sink that drops all events, for sessions that are only timed.
class NoSink final : public Sink {
 public:
  std::uint64_t send(RunId, RequestId, const NodePath&, Payload) override { return ++m_sequence; }

 private:
  std::uint64_t m_sequence = 0;
};

}  // namespace spanscope::trace
