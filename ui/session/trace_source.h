// SPDX-License-Identifier: GPL-3.0-or-later
// The sources of the events that a document shows, and what each source can report.
#pragma once

#include "ui/session/run_history.h"
#include "ui/session/trace_store.h"

#include <QString>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace spanscope::workbench {
struct RunSettings;
}

namespace spanscope::ui {

// The facts that a trace source may report, and the facts that the source does report. A view names the facts
// that it needs. If a fact is not reported, the window shows a sentence instead of nothing or zeros.

class TraceStore;

enum class Fact : std::uint8_t {
  Prompts,       ///< which tokens a prompt consists of, segment by segment
  TokenTexts,    ///< the text of each token
  BlockLookups,  ///< whether each block was a cache hit, and the reason of each miss
  Pool,          ///< the blocks of the pool
  CachedTokens,  ///< number of reused tokens of a prompt
  TokenTimes,    ///< arrival time of each token of an answer
  Passes,        ///< forward passes: their rows and times
  Attention,     ///< attention weights of query rows
  StepTimes,     ///< start, first text and end of each step
};
inline constexpr std::size_t kFacts = 9;

/// Whether a fact is reported. A value of a reported fact was measured, also if it is 0. A value of any other
/// fact is not known.
enum class Reporting : std::uint8_t {
  Reported,
  NotReported,      ///< so far; another run of the same source may report the fact
  CannotBeReported  ///< by this source
};

class ReportedFacts {
 public:
  /// Every fact is reported.
  ReportedFacts() { m_states.fill(Reporting::Reported); }

  Reporting of(Fact fact) const { return m_states[static_cast<std::size_t>(fact)]; }
  void set(Fact fact, Reporting state) { m_states[static_cast<std::size_t>(fact)] = state; }
  bool operator==(const ReportedFacts&) const = default;

 private:
  std::array<Reporting, kFacts> m_states{};
};

/// Returns which facts the events of a trace report. If no event reports a fact that is due by now, the fact
/// gets the state `missing`. The time grows with the number of events.
ReportedFacts reportedBy(const TraceStore& trace, Reporting missing);
/// Returns what a session of the embedded engine reports about runs with these settings.
ReportedFacts reportedUnder(const workbench::RunSettings& settings);

/// Lists the facts that cannot be reported: "Not reported by this trace: attention, the pool." Empty if there
/// are none.
QString unreportedText(const ReportedFacts& reported, const std::vector<Fact>& needs);
/// Whether none of the facts can be reported; false if no fact is needed.
bool reportsNothing(const ReportedFacts& reported, const std::vector<Fact>& needs);

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
