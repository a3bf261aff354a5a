// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/passage.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace spanscope::workbench {

/// A value that any thread may set, and may read as a copy.
template <class T>
class Published {
 public:
  Published() = default;
  explicit Published(T value) : m_value(std::move(value)) {}

  T get() const {
    const std::lock_guard lock(m_mutex);
    return m_value;
  }
  void set(T value) {
    const std::lock_guard lock(m_mutex);
    m_value = std::move(value);
  }

 private:
  mutable std::mutex m_mutex;
  T m_value{};
};

/// Limits reports of progress to 20 per second.
class ProgressPause {
 public:
  /// True for the first call, then once after each pause.
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

/// Progress of the index that a job waits for.
class Indexing {
 public:
  /// The watch for code that makes the index. The watch calls the function after progress, at most 20 times a
  /// second.
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
  /// Call this when the index is ready.
  void end() {
    if (!m_progress.get()) return;
    m_progress.set(std::nullopt);
    m_report();
  }

  /// Nothing: the job does not wait for an index. Any thread may call this function.
  std::optional<retrieve::IndexProgress> progress() const { return m_progress.get(); }

 private:
  std::function<void()> m_report;
  ProgressPause m_pause;
  Published<std::optional<retrieve::IndexProgress>> m_progress;
};

}  // namespace spanscope::workbench
