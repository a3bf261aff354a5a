// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/trace/recorder.h"
#include "ui/session/trace_source.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::ui {

/// A trace of another program, whose events arrive on other threads: a watched server, or a gateway. The
/// window takes all waiting events at once, so that many events per second do not block the window. A
/// recorded file has all events.
class StreamedSource : public TraceSource {
 public:
  /// Max memory of the shown events. The oldest events are dropped.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20U;

  TraceOrigin origin() const override { return TraceOrigin::File; }
  std::shared_ptr<const TraceStore> trace() const override { return m_store; }
  std::shared_ptr<const RunRecords> records() const override { return m_records; }
  bool takesRuns() const override { return false; }

  /// Takes the waiting events. Returns whether there were any.
  bool drain();
  /// Whether a run began since the last call.
  bool takeNewRun() { return std::exchange(m_hasNewRun, false); }
  /// Number of events that were dropped from memory, at the last drain.
  std::size_t dropped() const { return m_dropped; }

  /// Whether the stream has to be stopped.
  virtual bool isOpen() const = 0;
  /// Whether no event can arrive any more, although the stream is open.
  virtual bool hasEnded() const { return false; }
  /// Ends the stream, or begins to end it. A second call ends it at once. The file is complete when the
  /// stream has ended.
  virtual void stop() = 0;
  /// Returns the state in a few words, without error texts.
  virtual QString stateText() const = 0;
  /// Why the stream gets no events at the moment; empty: it gets events.
  virtual QString problem() const { return {}; }
  /// Why the file is not complete. Empty: the file is complete, or there is no file.
  const QString& fileProblem() const { return m_fileProblem; }

 protected:
  /// `file`: the path of a trace file for all events; empty: none. Throws Failure if it cannot be written.
  StreamedSource(std::shared_ptr<trace::Recorder> recorder, const std::string& file);

  trace::Recorder& recorder() { return *m_recorder; }
  void finishFile();
  /// Called for each event before the trace gets it.
  virtual void take(const trace::Event& /*event*/) {}
  /// Called before the waiting events are taken.
  virtual void refresh() {}

 private:
  std::shared_ptr<trace::Recorder> m_recorder;
  std::shared_ptr<TraceStore> m_store = std::make_shared<TraceStore>();
  std::shared_ptr<const RunRecords> m_records = std::make_shared<const RunRecords>();
  bool m_hasNewRun = false;
  std::size_t m_dropped = 0;
  QString m_fileProblem;
};

}  // namespace spanscope::ui
