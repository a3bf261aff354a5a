// SPDX-License-Identifier: GPL-3.0-or-later
// The sources of the events that a document shows, and what each source can report.
#pragma once

#include "ui/session/reported_facts.h"
#include "ui/session/run_history.h"
#include "ui/session/trace_store.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace spanscope::ui {

/// The origin of the shown trace.
enum class TraceOrigin : std::uint8_t {
  Unknown,       ///< there is no window and therefore no engine
  Session,       ///< the engine's open session
  EndedSession,  ///< an earlier session of the engine
  Server,        ///< a run on servers
  File,
};

class TraceSource {
 public:
  virtual ~TraceSource() = default;
  TraceSource() = default;
  TraceSource(const TraceSource&) = delete;
  TraceSource& operator=(const TraceSource&) = delete;

  virtual TraceOrigin origin() const = 0;
  /// The events so far; never null. While the source is in progress, the source appends events to this trace
  /// or replaces the trace.
  virtual std::shared_ptr<const TraceStore> trace() const = 0;
  /// The facts that the source reports, and the facts that the source cannot report.
  virtual ReportedFacts reports() const = 0;
  /// The records of the source's runs; null: the window's history has the records.
  virtual std::shared_ptr<const RunRecords> records() const { return nullptr; }
  /// Whether a document that shows this source can be edited and run here. After a run the document shows
  /// that run.
  virtual bool takesRuns() const { return true; }
};

/// The engine's open session.
class LiveSource final : public TraceSource {
 public:
  TraceOrigin origin() const override { return TraceOrigin::Session; }
  std::shared_ptr<const TraceStore> trace() const override { return m_store; }
  ReportedFacts reports() const override { return m_reports; }

  /// Notes that a run with these settings has begun. The settings decide what runs report, before there is
  /// any event.
  void noteRun(const workbench::RunSettings& settings) { m_reports = reportedUnder(settings); }
  TraceStore& store() { return *m_store; }
  /// Drops the oldest events, so that the rest takes at most `bytes` bytes. Returns the number of dropped
  /// events.
  std::size_t keepNewest(std::uint64_t bytes);

 private:
  std::shared_ptr<TraceStore> m_store = std::make_shared<TraceStore>();
  ReportedFacts m_reports;  ///< of the newest run
};

/// A session that has ended, or one run of such a session. Nothing in the session can be recomputed. Another
/// run may report facts that the settings of this session left out.
class EndedSource final : public TraceSource {
 public:
  explicit EndedSource(std::shared_ptr<const TraceStore> trace);
  TraceOrigin origin() const override { return TraceOrigin::EndedSession; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }
  ReportedFacts reports() const override { return m_reports; }

 private:
  std::shared_ptr<const TraceStore> m_trace;
  ReportedFacts m_reports;
};

/// A run on servers, in progress or ended. Nothing in such a run can be recomputed.
class ServerSource final : public TraceSource {
 public:
  explicit ServerSource(std::shared_ptr<const TraceStore> trace) : m_trace(std::move(trace)) {}
  TraceOrigin origin() const override { return TraceOrigin::Server; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }
  ReportedFacts reports() const override;

 private:
  std::shared_ptr<const TraceStore> m_trace;
};

/// Whether servers gave the answers of a trace.
bool isOfServers(const TraceStore& trace);
/// Returns the source of an ended session of the engine, of servers or of a cache simulator.
std::shared_ptr<const TraceSource> endedSource(const std::shared_ptr<const TraceStore>& trace);

/// An opened trace file. The runs of the file may come from any model and program. The file cannot report
/// facts that its events do not contain.
class FileSource final : public TraceSource {
 public:
  /// `title` is the title of its document.
  FileSource(std::shared_ptr<const TraceStore> trace, const QString& title);
  TraceOrigin origin() const override { return TraceOrigin::File; }
  std::shared_ptr<const TraceStore> trace() const override { return m_trace; }
  ReportedFacts reports() const override { return m_reports; }
  std::shared_ptr<const RunRecords> records() const override { return m_records; }
  bool takesRuns() const override { return false; }

 private:
  std::shared_ptr<const TraceStore> m_trace;
  std::shared_ptr<const RunRecords> m_records;
  ReportedFacts m_reports;
};

}  // namespace spanscope::ui
