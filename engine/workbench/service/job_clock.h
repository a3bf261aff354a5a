// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/token_amount.h"

#include <chrono>
#include <optional>

namespace spanscope::workbench {

/// Tells how long the rest of a measurement takes from how far it is. What passes in its seams does not
/// count.
class JobClock {
 public:
  void begin() { m_begin = Time::now(); }
  /// Calls `pass`, whose time does not count.
  template <class Pass>
  void leaveOut(const Pass& pass) {
    const Time::time_point before = Time::now();
    pass();
    m_passed += Time::now() - before;
  }
  /// `progress`: how much is done, 0 … 1. Nothing before begin() or near the beginning.
  std::optional<double> secondsLeft(double progress) const {
    if (!m_begin) return std::nullopt;
    const double spent = std::chrono::duration<double>(Time::now() - *m_begin - m_passed).count();
    return experiment::RemainingTime().secondsLeft(progress, spent);
  }

 private:
  using Time = std::chrono::steady_clock;
  std::optional<Time::time_point> m_begin;
  Time::duration m_passed{};
};

}  // namespace spanscope::workbench
