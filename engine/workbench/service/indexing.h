// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/fragment.h"
#include "engine/workbench/service/published.h"

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

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

/// How far the index is that a work waits for.
class Indexing {
 public:
  /// For what makes the index; `tell` is called now and then when it is further.
  retrieve::Watch watch(const std::stop_token& stop, std::function<void()> report) {
    m_report = std::move(report);
    m_pause.end();
    return {.progress =
                [this](const retrieve::IndexProgress& now) {
                  if (!m_pause.isOver()) return;
                  m_progress.set(now);
                  m_report();
                },
            .stop = stop};
  }
  /// The index is there.
  void end() {
    if (!m_progress.get()) return;
    m_progress.set(std::nullopt);
    m_report();
  }

  /// Nothing: nothing is waited for. On any thread.
  std::optional<retrieve::IndexProgress> progress() const { return m_progress.get(); }

 private:
  std::function<void()> m_report;
  ProgressPause m_pause;
  Published<std::optional<retrieve::IndexProgress>> m_progress;
};

}  // namespace spanscope::workbench
