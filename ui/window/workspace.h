// SPDX-License-Identifier: GPL-3.0-or-later
// The workspace: documents in tabs, the engine that they share, its trace, the selection and the scrubber.
// The workspace makes the input of every view from these members.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/servers/server_list.h"
#include "ui/document/document_model.h"
#include "ui/session/engine_host.h"
#include "ui/session/log_diagnosis.h"
#include "ui/session/model_choices.h"
#include "ui/session/open_document.h"
#include "ui/session/predictions.h"
#include "ui/session/run_traces.h"
#include "ui/session/served_runs.h"
#include "ui/session/server_runs.h"
#include "ui/session/shown_identities.h"
#include "ui/session/view_input.h"
#include "ui/window/run_starter.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {
class SpeedRecords;
class RunJob;
struct TracedPrediction;
}  // namespace spanscope::workbench

namespace spanscope::ui {

struct LoadComparisons;

class Workspace : public QObject {
  Q_OBJECT
 public:
  explicit Workspace(compute::Backends backends, QObject* parent = nullptr);
  ~Workspace() override;

  EngineHost& engine() { return m_engine; }

  const OpenDocuments& documents() const { return m_documents; }
  /// The documents that have a visible tab, in the order of the tabs. Documents that are set aside are
  /// hidden.
  std::vector<OpenDocument*> tabs() const;
  OpenDocument* current() { return m_current; }  ///< nullptr: nothing is open
  const OpenDocument* current() const { return m_current; }
  /// nullptr: the tab was closed.
  OpenDocument* find(std::uint32_t tab) const { return findDocument(m_documents, tab); }
  DocumentModel* model() { return m_current == nullptr ? nullptr : m_current->model.get(); }
  /// A document that was set aside gets a visible tab again.
  void setCurrent(OpenDocument* document);

  /// Sets aside all documents, their runs and the engine with its cache. No document is open then, the
  /// history is empty, runs count from 1, and runs use an empty cache. Call this function only while
  /// isSetAside() is false.
  void setAside();
  /// Shows the documents and the runs that were set aside, and the document that was current. Their cache is
  /// as before. Jobs of the time in between are stopped.
  void bringBack();
  bool isSetAside() const { return m_aside.has_value(); }
  /// While `hides` is true, views get no prediction.
  void hidePrediction(bool hides);

  /// Opens a tab and makes it the current tab.
  OpenDocument& open(std::unique_ptr<DocumentModel> model);
  /// Opens a recorded trace with the query of its last run. Throws Failure.
  OpenDocument& openTrace(const QString& path);
  /// Closes a tab and stops its job.
  void close(OpenDocument* document);

  /// The input of the views of the current document.
  const ViewInput& input() const { return m_input; }

  void select(const Selection& selection);
  /// Goes back (negative) or forward in the history of selections. Returns whether there is such a selection.
  bool goThroughSelections(int steps);
  bool canGoThroughSelections(int steps) const;
  void setTheme(const Theme& theme);
  /// Sets the keys that hints name.
  void setKeys(KeyTexts keys);
  /// Shows the state after this number of events. After the last event, the workspace follows new events.
  void setPosition(std::size_t position);
  /// Sets whether predictions also compare the layouts.
  void compareLayouts(bool compares) { m_predictions.compareLayouts(compares); }
  /// Shows a run and its session in their state at the run's end. Follows a run that has not ended. Does
  /// nothing if the run's trace is not kept any more.
  void showRun(RunId run);
  /// Adds the prediction of a cache simulator to the runs of the current document, and shows its run. Returns
  /// the run; 0: no document can show the prediction.
  RunId addPredicted(const workbench::TracedPrediction& reported);
  /// The run `steps` places before (negative) or after the shown run, among the current document's runs with
  /// a trace. 0: there is none.
  RunId runBeside(int steps) const;
  /// The run that the current document shows; 0: none.
  RunId shownRun() const;
  /// The traces of runs, and their archive.
  RunTraces& traces() { return m_traces; }
  const RunTraces& traces() const { return m_traces; }
  const RunHistory& history() const { return m_traces.history(); }
  /// Sets the model of a new document's settings to the model of the current document, else of the last run.
  /// Also sets the adapter, chat template, context and usual policy of this model.
  void useModelInUse(document::RunSettings& settings) const;
  /// The directory of the document's checkpoint; empty if the bundled checkpoint is missing.
  static std::string runsOn(const OpenDocument& document);
  /// Sets the directories of models that were used before, the newest first.
  void setRecentModels(std::vector<std::string> directories);
  /// The models on this machine.
  ModelSearch& modelSearch() { return m_modelSearch; }
  /// Searches for models again. The memory that a model needs is computed for the settings of the current
  /// document.
  void searchModels();

  /// The directory of a bundled adapter that trains the current document's model for block attention. Empty:
  /// there is none, the model is not loaded, or the document has an adapter.
  std::string offeredAdapter() const;

  /// Starts runs of the current document.
  RunStarter& runs() { return m_runs; }
  /// Submits a job for its tab. At the end of the job, EngineJob::changed is called. Then the job's events
  /// are shown, and jobEnded() is sent. Returns the reason of a refusal; empty: the job was submitted.
  QString submit(EngineJob job);
  /// The file whose folder has other files of the current document: its own file, or the file of its lesson.
  /// Empty: there is no such file. Nothing: no document is open that can be run.
  std::optional<QString> documentPath() const;
  /// The servers that the user has named, and runs on these servers.
  ServerRuns& serverRuns() { return m_serverRuns; }
  const ServerRuns& serverRuns() const { return m_serverRuns; }
  /// The server for requests of other programs to the window's engine.
  Serving& serving() { return m_served.serving(); }
  /// Starts to serve the model of the current document, else of the last run.
  void serve(const ServeSettings& settings);
  /// Shows a request of a client as a document with its run. Uses the document that already shows the
  /// request, else opens a preview. nullptr: the request is not listed any more.
  OpenDocument* showServed(std::uint64_t number);
  /// Whether the user has edited or run a preview here. Then the preview is a document like other documents.
  bool isUsed(const OpenDocument& preview) const;
  /// Known speeds of models on this machine; never null.
  const std::shared_ptr<workbench::SpeedRecords>& paces() const { return m_paces; }
  /// Stores these speeds in a file from now on.
  void setSpeedFile(const QString& path);
  /// Adds the times of a run that has ended.
  void noteSpeed(const workbench::RunJob& work);
  /// The jobs that measure for a tab, or for the program; nullptr: the tab was closed.
  AskedJobs* measured(std::uint32_t tab);
  /// The estimated duration of the job that a view named; null: unknown, or out of date.
  const std::shared_ptr<const AskedEstimate>& estimate() const { return m_estimate; }
  void setEstimate(AskedEstimate estimate);
  /// Sets the arguments that the user has chosen for the next job of a kind. jobChosen() reports the call.
  void choose(const jobs::JobCall& call);
  /// The diagnosis of a log of requests, which all tabs show.
  LogDiagnosis& log() { return m_log; }
  /// The comparisons of loading and computing blocks. loadsMeasured() reports a new comparison.
  const LoadComparisons& loads() const { return *m_loads; }
  void setLoads(LoadComparisons loads);
  /// The run of the current document that saveTrace() writes: the shown run, else the newest. 0: none.
  RunId runToSave() const;
  /// Writes the events of runToSave() to a file. For a recording without known queries, writes all events.
  /// Returns an error text; empty: no error.
  QString saveTrace(const QString& path) const;

 Q_SIGNALS:
  void currentChanged();
  void documentsChanged();  ///< tabs or their titles
  void inputChanged();      ///< at most once a frame

  /// A job of a tab or of the program has ended, or a model could not be loaded in advance. `problem` is
  /// empty unless the job failed and its failure is not shown elsewhere.
  void jobEnded(const QString& problem, std::uint32_t tab);
  void keepingFailed(const QString& problem);
  void jobChosen(const spanscope::jobs::JobCall& call);
  void loadsMeasured();  ///< loads() has another comparison

 private:
  /// The state of the window before setAside(), besides the documents.
  struct Aside {
    std::uint32_t current = 0;  ///< the current tab; 0: none
  };
  void keepLoads(const trace::JobEnded& ended);
  void showMeasured();
  void showMeasuringFacts();
  void invalidate();
  void drain();
  void showTokenizer();
  void update();
  void showPrediction();
  ReplayState replayState() const;

  ModelSearch m_modelSearch;
  EngineHost m_engine;
  OpenDocuments m_documents;
  RunTraces m_traces{m_engine, m_documents};
  ServerRuns m_serverRuns{m_engine, m_documents, m_traces};
  ServedRuns m_served{m_engine, m_documents, m_traces};
  Predictions m_predictions{m_engine};
  RunStarter m_runs{*this, m_predictions};
  std::shared_ptr<workbench::SpeedRecords> m_paces;
  AskedJobs m_measured;                                ///< jobs that belong to the program
  std::map<std::string, trace::PackedValue> m_chosen;  ///< by kind: MeasuredJob::chosen
  std::shared_ptr<const AskedEstimate> m_estimate;
  std::shared_ptr<const LoadComparisons> m_loads;  ///< never null
  LogDiagnosis m_log;
  bool m_paceIsOld = true;  ///< m_paces may have newer values than ModelsKnown::pace
  OpenDocument* m_current = nullptr;
  std::optional<Aside> m_aside;  ///< nothing: no document is set aside
  bool m_hidesPrediction = false;
  std::uint32_t m_nextId = 1;

  /// Tokenizers of models that are not loaded, by directory; null: requested.
  std::map<std::string, std::shared_ptr<const text::Tokenizer>> m_tokenizers;

  ViewInput m_input;
  ShownIdentities m_identities{m_input, m_documents};
  QTimer m_frame;  ///< waits one frame before views get the input
};

}  // namespace spanscope::ui
