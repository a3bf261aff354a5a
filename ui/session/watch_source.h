// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/watch/watch.h"
#include "engine/trace/recorder.h"
#include "ui/session/trace_source.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::ui {

/// The trace of a watched server (engine/remote/watch). The events arrive on other threads. The window takes
/// all waiting events at once, so that many events per second do not block the window. If more events arrive
/// than fit into the queue of the recorder, a snapshot replaces the events of single blocks. A recorded file
/// has all events.
class WatchSource final : public TraceSource {
 public:
  /// Max memory of the shown events. The oldest events are dropped.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;

  /// `file`: the path of a trace file for all events; empty: none. Throws Failure for a wrong configuration,
  /// or if the file cannot be written.
  explicit WatchSource(watch::WatchConfig config, const std::string& file = {});

  TraceOrigin origin() const override { return TraceOrigin::File; }
  std::shared_ptr<const TraceStore> trace() const override { return m_store; }
  ReportedFacts reports() const override;
  std::shared_ptr<const RunRecords> records() const override { return m_records; }
  bool takesRuns() const override { return false; }

  /// Takes the waiting events. Returns whether there were any.
  bool drain();
  /// Whether a run began since the last call.
  bool takeNewRun() { return std::exchange(m_hasNewRun, false); }
  /// Number of events that were dropped from memory, at the last drain.
  std::size_t dropped() const { return m_dropped; }
  bool isWatching() const { return m_watch != nullptr; }
  /// Ends the watch within 100 ms, and completes the file. Returns the problem of the file;
  /// empty: none.
  std::string stop();
  /// The state of the watch, or the last state.
  watch::WatchState state() const;

 private:
  bool m_hasTexts;
  bool m_hasBlocks;
  bool m_hasSlots = false;
  std::shared_ptr<TraceStore> m_store = std::make_shared<TraceStore>();
  std::shared_ptr<const RunRecords> m_records = std::make_shared<const RunRecords>();
  bool m_hasNewRun = false;
  std::size_t m_dropped = 0;
  watch::WatchState m_state;
  trace::Recorder m_recorder;
  std::unique_ptr<watch::Watch> m_watch;  ///< ends before the recorder
};

}  // namespace spanscope::ui
