// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "engine/workbench/settings.h"
#include "ui/session/engine_host.h"
#include "ui/session/open_document.h"
#include "ui/session/run_archive.h"
#include "ui/session/run_history.h"
#include "ui/session/trace_source.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spanscope::workbench {
class RunJob;
struct TracedPrediction;
}  // namespace spanscope::workbench

namespace spanscope::ui {

// Distinguishes texts of the bundled examples from the user's texts.

/// Returns whether a query (as JSON) has a document of the examples in resources/queries. A document is a
/// user message below a plus, or a text that an augment searches. If the query has no documents, its user
/// messages are compared. Also returns true if the query or the examples cannot be read, because the texts
/// are not known then.
bool hasExampleText(const std::string& queryJson);

/// Owns the traces of runs: of the engine's open session, of ended sessions and of servers. Also owns the
/// archive on the disk, and decides which trace a document shows.
class RunTraces : public QObject {
  Q_OBJECT
 public:
  /// Both references must outlive this object.
  RunTraces(EngineHost& engine, const OpenDocuments& documents);

  const std::shared_ptr<LiveSource>& live() const { return m_live; }
  const RunHistory& history() const { return m_history; }
  /// The measurements since the program began, over all sessions: the JobEnded events of jobs that concern no
  /// answer. Never null.
  const std::shared_ptr<TraceStore>& measured() const { return m_measured; }

  /// Takes the events that the engine has reported since the last call.
  void drain();
  /// Ends the session of the events that were drained so far.
  void endSession();
  /// Sets the open session and the history aside for the session of a separate engine. The history is then
  /// empty, and the runs count from 1.
  void setAside();
  /// Continues the session and the history that were set aside. The runs of the separate engine have ended,
  /// and their records are dropped.
  void resume();
  /// Sets the memory limit of the traces to the limit in these settings. The function keepAtLeast() only
  /// raises the limit.
  void keepFor(const workbench::RunSettings& settings);
  void keepAtLeast(const workbench::RunSettings& settings);

  /// Notes a submitted run until its RunStarted event arrives. `record` has the tab of the run.
  void expect(const std::shared_ptr<workbench::RunJob>& work, RunRecord record);
  void forget(const std::shared_ptr<workbench::RunJob>& work);
  /// Begins a run of the open session with its RunStarted event. The archive does not keep runs of clients
  /// and lessons.
  void begin(const trace::Event& event, RunRecord record, bool isOfClient);
  /// Begins and ends a run on servers. The trace of such a run stays in memory between hold() and release().
  void beginOnServers(const RunRecord& record, const std::string& queryJson);
  void endOnServers(const RunRecord& record);
  void hold(const TraceStore& trace) { m_held.insert(&trace); }
  void release(const TraceStore& trace) { m_held.erase(&trace); }

  /// Reserves numbers for a run of the engine with this number of requests. The reserved numbers follow the
  /// returned numbers. Nothing: the engine counts.
  std::optional<RunNumbers> reserve(std::uint32_t requests);
  /// Reserves numbers for a run on servers. `hasOthers`: the engine answers some steps, as separate runs with
  /// their own numbers.
  RunNumbers reserveForServers(std::uint32_t requests, bool hasOthers);

  /// Keeps runs in this folder, including the runs so far. If there is no run yet, also loads the runs in the
  /// folder.
  void keepRuns(const QString& folder);
  /// Deletes the kept runs and stops keeping runs.
  void forgetKeptRuns();
  bool keepsRuns() const { return m_archive != nullptr; }

  /// Finds the runs of an opened document in the history.
  void bindHistory(OpenDocument& document) const;
  /// Gives the runs of a document that had no file the file under which the document was saved now. Without
  /// this, the saved file would have no runs when it is opened again.
  void nameRuns(const OpenDocument& document);
  /// Shows the session of a run at the end of the run. The document follows a run that has not ended. Nothing
  /// happens if the run's trace is no longer kept.
  void showRun(OpenDocument& document, RunId run);
  /// Shows the query of a run in a document whose source takes no runs. A document that the user has changed
  /// keeps its query.
  void showQuery(OpenDocument& document, RunId run);
  /// Shows the open session, and follows its new events.
  void showLive(OpenDocument& document) const;

  /// Adds the trace of a cache simulator to the runs of a document, and shows the trace. Returns the added
  /// run; 0: the document cannot show the trace.
  RunId addPredicted(OpenDocument& document, const workbench::TracedPrediction& reported);
  /// Removes a simulated run. A document that shows the run returns to the open session. Returns false if the
  /// run is not simulated.
  bool removePredicted(RunId run);
  bool isPredicted(RunId run) const;

 Q_SIGNALS:
  void queryShown(const spanscope::ui::OpenDocument& document);  ///< showQuery() has replaced the query
  void changed();                                                ///< the history or a shown run has changed
  void shown();  ///< a document shows another run, which must be visible immediately.
  /// A run that the window did not submit has begun in the open session.
  void otherStarted(const spanscope::trace::Event& event);
  void keepingFailed(const QString& problem);
  /// A job that concerns no answer has ended.
  void measuringEnded(const spanscope::trace::JobEnded& ended);

 private:
  struct PendingRun {
    std::shared_ptr<workbench::RunJob> work;
    RunRecord record;
  };
  struct Aside;  ///< the state before setAside()
  /// The largest numbers of runs and requests that this program knows. While a session is set aside, its runs
  /// do not count.
  RunNumbers lastNumbers() const;
  /// The history that the archive keeps: without the runs of the separate engine.
  RunHistory& keptHistory();
  void takeStart(const trace::Event& event);
  void keepMeasured(const trace::Event& event);
  /// Writes a run to the archive, if the archive keeps this run.
  void archive(RunId run);
  void boundTrace();
  void boundHistory();

  EngineHost& m_engine;
  const OpenDocuments& m_documents;
  std::shared_ptr<LiveSource> m_live = std::make_shared<LiveSource>();
  std::shared_ptr<Aside> m_aside;  ///< null: no session was set aside
  std::uint64_t m_keptBytes;       ///< memory limit of the traces
  std::shared_ptr<TraceStore> m_measured = std::make_shared<TraceStore>();
  std::vector<PendingRun> m_pending;
  std::set<RunId> m_unkept;  ///< runs of clients and lessons, which the archive does not keep
  std::set<const TraceStore*> m_held;
  RunNumbers m_given;  ///< the largest numbers of runs on servers and of simulated runs
  RunHistory m_history;
  std::unique_ptr<RunArchive> m_archive;  ///< null: runs are not kept after the program ends
};

/// Returns the document of a recorded trace: the query of its last run, with the settings in the trace.
document::Document documentOf(const TraceStore& trace);
/// Gives the document of a recorded trace the runs that have the document's query.
void bindRuns(OpenDocument& document);

}  // namespace spanscope::ui
