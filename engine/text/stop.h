// SPDX-License-Identifier: GPL-3.0-or-later
// How a text that is being encoded is let go of: it may be long, and whoever waits for it may give up.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <stop_token>

namespace spanscope::text {

/// Throws Failure where a stop was requested.
inline void throwIfStopped(const std::stop_token& stop) {
  if (stop.stop_requested())
    throw Failure(errorAt("text", "a stop while it was encoded", "to be let finish"));
}

/// The same for loops whose steps take less time than the question: it is asked once in a while.
class StopPoll {
 public:
  /// `stop` must outlive it.
  explicit StopPoll(const std::stop_token& stop) : m_stop(&stop) {}

  void step() {
    constexpr std::size_t kStepsPerQuestion = 4096;
    if (++m_steps % kStepsPerQuestion == 0) throwIfStopped(*m_stop);
  }

 private:
  const std::stop_token* m_stop;
  std::size_t m_steps = 0;
};

}  // namespace spanscope::text
