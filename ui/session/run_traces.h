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

/// Holds the traces of runs: that of the engine's open session, those that ended sessions and servers left,
/// and the archive that outlives the program. Says which trace a document shows.
class RunTraces : public QObject {
  Q_OBJECT
 public:
  /// Both must outlive it.
  RunTraces(EngineHost& engine, const OpenDocuments& documents);

  const std::shared_ptr<LiveSource>& live() const { return m_live; }
  const RunHistory& history() const { return m_history; }
  /// What was measured since the program began, in whichever session: the JobEnded events of jobs that are
  /// about no answer. Never null.
  const std::shared_ptr<TraceStore>& measured() const { return m_measured; }

  /// Takes what the engine has reported since the last call.
  void drain();
  /// What was drained so far belongs to a session that has ended.
  void endSession();
  /// Has a trace keep at most as many bytes as these settings say, from now on; or at least as many.
  void keepFor(const workbench::RunSettings& settings);
  void keepAtLeast(const workbench::RunSettings& settings);

  /// A run that was submitted, until its RunStarted event has come. `record` belongs to its tab.
  void expect(const std::shared_ptr<workbench::RunJob>& work, RunRecord record);
  void forget(const std::shared_ptr<workbench::RunJob>& work);
  /// A run of the open session begins with this event. What clients ask ends with the program.
  void begin(const trace::Event& event, RunRecord record, bool isOfClient);
  /// A run on servers, which has a trace of its own: that one stays while it goes on.
  void beginOnServers(const RunRecord& record, const std::string& queryJson);
  void endOnServers(RunId run);
  void hold(const TraceStore& trace) { m_held.insert(&trace); }
  void release(const TraceStore& trace) { m_held.erase(&trace); }

  /// The numbers after which a run of the engine with so many requests has its own; nothing: the engine
  /// counts.
  std::optional<RunNumbers> reserve(std::uint32_t requests);
  /// The same for a run on servers. `hasOthers`: steps of it that the engine answers are runs of the engine's
  /// own, which have numbers, too.
  RunNumbers reserveForServers(std::uint32_t requests, bool hasOthers);

  /// Keeps runs in this folder, those so far included. Before the first run, it also takes in what earlier
  /// programs kept there.
  void keepRuns(const QString& folder);
  /// Removes what is kept and keeps no more.
  void forgetKeptRuns();
  bool keepsRuns() const { return m_archive != nullptr; }

  /// Gives an opened document the runs that are its own.
  void bindHistory(OpenDocument& document) const;
  /// Shows a run as it was at its end, and the state of its session then; a run that has not ended is
  /// followed. Nothing happens if its trace is not kept any more.
  void showRun(OpenDocument& document, RunId run);
  /// Shows the session that is open, as it goes on.
  void showLive(OpenDocument& document) const;

  /// Adds what a cache simulator reported to the runs of a document, and shows it. Returns its run; 0: the
  /// document cannot show it.
  RunId addPredicted(OpenDocument& document, const workbench::TracedPrediction& reported);
  /// Removes a simulated run. A document that shows it shows the open session again. Returns false if the run
  /// is none.
  bool removePredicted(RunId run);
  bool isPredicted(RunId run) const;

 Q_SIGNALS:
  void changed();  ///< the history, or what a document shows
  void shown();    ///< a document shows another run, which is to be seen at once
  /// A run has begun in the open session that is not of the window's.
  void otherStarted(const spanscope::trace::Event& event);
  void keepingFailed(const QString& problem);
  /// A job has ended that is about no answer.
  void measuringEnded(const spanscope::trace::JobEnded& ended);

 private:
  struct PendingRun {
    std::shared_ptr<workbench::RunJob> work;
    RunRecord record;
  };
  /// The largest numbers of runs and requests that this program knows.
  RunNumbers lastNumbers() const;
  void takeStart(const trace::Event& event);
  void keepMeasured(const trace::Event& event);
  void boundTrace();
  void boundHistory();

  EngineHost& m_engine;
  const OpenDocuments& m_documents;
  std::shared_ptr<LiveSource> m_live = std::make_shared<LiveSource>();
  std::uint64_t m_keptBytes;  ///< most of it that is kept
  std::shared_ptr<TraceStore> m_measured = std::make_shared<TraceStore>();
  std::vector<PendingRun> m_pending;
  std::set<RunId> m_ofClients;
  std::set<const TraceStore*> m_held;
  RunNumbers m_given;  ///< the largest numbers that runs on servers were given
  RunHistory m_history;
  std::unique_ptr<RunArchive> m_archive;  ///< null: runs end with the program
};

/// The document of a recorded trace: the query of its last run, with the settings that the trace reports.
document::Document documentOf(const TraceStore& trace);
/// Gives the document of a recorded trace the runs whose query it has.
void bindRuns(OpenDocument& document);

}  // namespace spanscope::ui
