// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/sink.h"

namespace spanscope::trace {

/// Keeps nothing: for sessions that are only timed.
class NoSink final : public Sink {
 public:
  std::uint64_t send(RunId, RequestId, const NodePath&, Payload) override { return ++m_sequence; }

 private:
  std::uint64_t m_sequence = 0;
};

}  // namespace spanscope::trace
