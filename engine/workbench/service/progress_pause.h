// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>

namespace spanscope::workbench {

/// Says when progress may be told again, so that a client hears of it at most 20 times a second.
class ProgressPause {
 public:
  /// True at once, and then after each pause.
  bool isOver() {
    constexpr std::chrono::milliseconds kPause{50};
    const auto now = std::chrono::steady_clock::now();
    if (now - m_last < kPause) return false;
    m_last = now;
    return true;
  }
  void end() { m_last = {}; }

 private:
  std::chrono::steady_clock::time_point m_last;
};

}  // namespace spanscope::workbench
