// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/fragment.h"
#include "engine/workbench/service/progress_pause.h"
#include "engine/workbench/service/published.h"

#include <functional>
#include <optional>
#include <stop_token>
#include <utility>

namespace spanscope::workbench {

/// How far the index is that a work waits for.
class Indexing {
 public:
  /// For what makes the index; `tell` is called now and then when it is further.
  retrieve::Watch watch(const std::stop_token& stop, std::function<void()> tell) {
    m_tell = std::move(tell);
    m_pause.end();
    return {.progress =
                [this](const retrieve::IndexProgress& now) {
                  if (!m_pause.isOver()) return;
                  m_progress.set(now);
                  m_tell();
                },
            .stop = stop};
  }
  /// The index is there.
  void end() {
    if (!m_progress.get()) return;
    m_progress.set(std::nullopt);
    m_tell();
  }

  /// Nothing: nothing is waited for. On any thread.
  std::optional<retrieve::IndexProgress> progress() const { return m_progress.get(); }

 private:
  std::function<void()> m_tell;
  ProgressPause m_pause;
  Published<std::optional<retrieve::IndexProgress>> m_progress;
};

}  // namespace spanscope::workbench
