// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/watch/watch.h"
#include "ui/session/streamed_source.h"

#include <memory>
#include <string>

namespace spanscope::ui {

/// The trace of a watched server (engine/remote/watch). If more events arrive than fit into the queue of the
/// recorder, a snapshot replaces the events of single blocks.
class WatchSource final : public StreamedSource {
 public:
  /// `file`: as for StreamedSource. Throws Failure for a wrong configuration, too.
  explicit WatchSource(watch::WatchConfig config, const std::string& file = {});

  ReportedFacts reports() const override;
  bool isOpen() const override { return m_watch != nullptr; }
  bool hasEnded() const override { return m_state.hasEnded; }
  /// Takes less than 100 ms.
  void stop() override;
  /// "vLLM 0.32.0 · 1204 events · 312 blocks cached".
  QString stateText() const override;
  QString problem() const override { return QString::fromStdString(m_state.problem); }
  /// The state of the watch, or the last state.
  const watch::WatchState& state() const { return m_state; }

 private:
  void take(const trace::Event& event) override;
  void refresh() override;

  bool m_hasTexts;
  bool m_hasBlocks;
  bool m_hasSlots = false;
  watch::WatchState m_state;
  std::unique_ptr<watch::Watch> m_watch;  ///< null: ended
};

}  // namespace spanscope::ui
