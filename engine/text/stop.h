// SPDX-License-Identifier: GPL-3.0-or-later
// Stops the encoding of a long text. Open this file to make another loop stoppable.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <stop_token>

namespace spanscope::text {

/// Throws Failure if a stop was requested. The error has no expected text, because the user requested the
/// stop.
inline void throwIfStopped(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Failure(errorAt("text", "The encoding was stopped.", {}));
}

/// Checks for a stop once in many steps. For loops whose steps take less time than the check.
class StopPoll {
 public:
  /// `stop` must outlive the object.
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
