// SPDX-License-Identifier: GPL-3.0-or-later
// What is open and what is shown of it: documents in tabs, the one engine that they share, its trace, the
// selection, the scrubber. The workspace makes the input of every view from these.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/servers/server_list.h"
#include "ui/document/document_model.h"
#include "ui/session/engine_host.h"
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

struct AskedEstimate;
struct LoadComparisons;

class Workspace : public QObject {
  Q_OBJECT
 public:
  explicit Workspace(compute::Backends backends, QObject* parent = nullptr);
  ~Workspace() override;

  EngineHost& engine() { return m_engine; }

  const OpenDocuments& documents() const { return m_documents; }
  OpenDocument* current() { return m_current; }  ///< nullptr: nothing is open
  const OpenDocument* current() const { return m_current; }
  /// nullptr: it was closed.
  OpenDocument* find(std::uint32_t tab) const { return findDocument(m_documents, tab); }
  DocumentModel* model() { return m_current == nullptr ? nullptr : m_current->model.get(); }
  void setCurrent(OpenDocument* document);

  /// Opens a tab and makes it the current one.
  OpenDocument& open(std::unique_ptr<DocumentModel> model);
  /// Opens a recorded trace with the query of its last run. Throws Failure.
  OpenDocument& openTrace(const QString& path);
  /// Closes a tab and stops its job.
  void close(OpenDocument* document);

  /// What the views of the current document are a function of.
  const ViewInput& input() const { return m_input; }

  void select(const Selection& selection);
  /// Selects what was selected before (negative), or before going back. Returns whether there is such a
  /// thing.
  bool goThroughSelections(int steps);
  bool canGoThroughSelections(int steps) const;
  void setTheme(const Theme& theme);
  /// The keys that hints name.
  void setKeys(KeyTexts keys);
  /// Shows the state after so many events; where these are all, the newest event is followed from then on.
  void setPosition(std::size_t position);
  /// Says whether predictions compare the layouts as well from now on.
  void compareLayouts(bool compares) { m_predictions.compareLayouts(compares); }
  /// Shows a run as it was at its end, and the state of its session then; a run whose end is not there yet is
  /// followed. Nothing happens where its trace has been let go.
  void showRun(RunId run);
  /// Adds what a twin has told to the runs of the current document, and shows it. Gives its run; 0: there is
  /// no document that could show it.
  RunId addPredicted(const workbench::TracedPrediction& reported);
  /// Of the current document's runs whose trace is there, the one that stands so many places before
  /// (negative) or after the one in view; 0: there is none.
  RunId runBeside(int steps) const;
  /// The run of the current document that is in view; 0: none.
  RunId shownRun() const;
  /// The traces of runs, and their archive.
  RunTraces& traces() { return m_traces; }
  const RunTraces& traces() const { return m_traces; }
  const RunHistory& history() const { return m_traces.history(); }
  /// Gives the settings of a new document the model of the current document, else that of the last run. The
  /// model comes with its adapter, chat template and context, and with its usual policy.
  void useModelInUse(document::RunSettings& settings) const;
  /// The directory of the checkpoint that the document runs on; empty where the bundled one is not there.
  static std::string runsOn(const OpenDocument& document);
  /// The directories of models that were used before, the newest first.
  void setRecentModels(std::vector<std::string> directories);
  /// The models on this machine.
  ModelSearch& modelSearch() { return m_modelSearch; }
  /// Looks for them once more; memory is told with the settings of the current document.
  void searchModels();

  /// Directory of an adapter that comes with the program and trains the current document's model for block
  /// attention; empty: there is none, the model is not loaded, or the document has an adapter.
  std::string offeredAdapter() const;

  /// Runs of the current document.
  RunStarter& runs() { return m_runs; }
  /// Has a job done for its tab. When it has ended, its events are shown and jobEnded() is said, after
  /// EngineJob::changed was called. Returns why not, in words; nothing if it was submitted.
  QString submit(EngineJob job);
  /// The file beside which files of the current document are read: its own, else that of the lesson that
  /// opened it; empty if it has none. Nothing: no document is open that can be run.
  std::optional<QString> documentPath() const;
  /// The servers that the user gave names to, and runs on them.
  ServerRuns& serverRuns() { return m_serverRuns; }
  const ServerRuns& serverRuns() const { return m_serverRuns; }
  /// What other programs ask of the window's engine.
  Serving& serving() { return m_served.serving(); }
  /// Begins to serve the model of the current document, or else of the last run.
  void serve(const ServeSettings& settings);
  /// Shows a request of a client as a document with its run: that which shows it already, else a new one,
  /// which is a preview. nullptr: it is not listed any more.
  OpenDocument* showServed(std::uint64_t number);
  /// Whether a preview has become a document of its own: it was edited or run here.
  bool isUsed(const OpenDocument& preview) const;
  /// What is known of the pace of models on this machine; never null.
  const std::shared_ptr<workbench::SpeedRecords>& paces() const { return m_paces; }
  /// Keeps it in a file from now on.
  void setSpeedFile(const QString& path);
  /// Adds the times of a run that has ended.
  void noteSpeed(const workbench::RunJob& work);
  /// The jobs that measure for a tab, or for the program; nullptr: the tab was closed.
  AskedJobs* measured(std::uint32_t tab);
  /// How long the job takes that a view asks about.
  void setEstimate(AskedEstimate estimate);
  /// The names of the policies that the person wants to compare, from now on.
  void setPoliciesWanted(std::vector<std::string> names);
  /// What is remembered of loading beside computing; loadsMeasured() says when it changes.
  void setLoads(LoadComparisons loads);
  /// The run of the current document that saveTrace() writes: the one in view, else its newest. 0: none.
  RunId runToSave() const;
  /// Writes the events of that run to a file, and those of a recording whose queries are not known. Returns
  /// what was wrong, or nothing.
  QString saveTrace(const QString& path) const;

 Q_SIGNALS:
  void currentChanged();
  void documentsChanged();  ///< tabs or their titles
  void inputChanged();      ///< at most once a frame
  /// A job of a tab, or of the program, has ended; `problem` is empty unless it failed and does not show that
  /// itself. Or a model could not be loaded ahead.
  void jobEnded(const QString& problem, std::uint32_t tab);
  void keepingFailed(const QString& problem);
  void loadsMeasured();  ///< input().loads has another comparison

 private:
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
  AskedJobs m_measured;     ///< that belong to the program
  bool m_paceIsOld = true;  ///< the book may know more than MeasuringFacts::pace
  OpenDocument* m_current = nullptr;
  std::uint32_t m_nextId = 1;

  /// Of models that are not loaded; null: asked for.
  std::map<std::string, std::shared_ptr<const text::Tokenizer>> m_tokenizers;

  ViewInput m_input;
  ShownIdentities m_identities{m_input, m_documents};
  QTimer m_frame;  ///< one frame's wait before views get the input
};

}  // namespace spanscope::ui
