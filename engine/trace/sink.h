// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/event.h"

#include <cstdint>

namespace spanscope::trace {

/// Where the engine sends its events.
class Sink {
 public:
  virtual ~Sink() = default;

  /// Takes an event; the sink gives it its sequence number and time. Returns the sequence number. Never
  /// blocks on whoever reads the events.
  virtual std::uint64_t send(RunId run, RequestId request, const NodePath& node, Payload payload) = 0;
};

/// Keeps nothing: for sessions that are only timed.
class NoSink final : public Sink {
 public:
  std::uint64_t send(RunId, RequestId, const NodePath&, Payload) override { return ++m_sequence; }

 private:
  std::uint64_t m_sequence = 0;
};

}  // namespace spanscope::trace
