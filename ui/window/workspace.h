// SPDX-License-Identifier: GPL-3.0-or-later
// What is open and what is shown of it: documents in tabs, the one engine they share, its trace, the
// selection, the scrubber. From these it makes the input of every view.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/document/document_query.h"
#include "ui/document/document_model.h"
#include "ui/session/engine_host.h"
#include "ui/session/forecasts.h"
#include "ui/session/run_archive.h"
#include "ui/session/run_history.h"
#include "ui/session/run_inputs.h"
#include "ui/session/trace_source.h"
#include "ui/session/view_input.h"

#include <QObject>
#include <QString>
#include <QTimer>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::experiment {
struct ExperimentWish;
}

namespace spanscope::ui {

enum class BenchmarkKind;
struct ExperimentRun;
struct LoadComparisons;

/// A tab.
struct OpenDocument {
  std::uint32_t id = 0;  ///< of the tab, never used again
  std::unique_ptr<document::DocumentModel> model;
  std::shared_ptr<const TraceSource> source;   ///< whose events are shown; never null
  RunId chosen = 0;                            ///< run that a person chose to see; 0: the newest
  std::map<RunId, document::NodePaths> paths;  ///< runs of this document
  Selection selection;
  std::size_t position = 0;  ///< of the scrubber
  bool following = true;     ///< the newest event is shown
  QString failure;           ///< why the last run could not start or failed; empty otherwise
  std::shared_ptr<const Benchmark> benchmark;  ///< the last one of it; null: none
};

class Workspace : public QObject {
  Q_OBJECT
 public:
  explicit Workspace(compute::Backends backends, QObject* parent = nullptr);
  ~Workspace() override;

  EngineHost& engine() { return m_engine; }

  const std::vector<std::unique_ptr<OpenDocument>>& documents() const { return m_documents; }
  OpenDocument* current() { return m_current; }  ///< nullptr: nothing is open
  const OpenDocument* current() const { return m_current; }
  document::DocumentModel* model() { return m_current == nullptr ? nullptr : m_current->model.get(); }
  void setCurrent(OpenDocument* document);

  /// Opens a tab and makes it the current one.
  OpenDocument& open(std::unique_ptr<document::DocumentModel> model);
  /// Opens a recorded trace with the query of its last run. Throws Failure.
  OpenDocument& openTrace(const QString& path);
  void close(OpenDocument* document);

  /// What the views of the current document are a function of.
  const ViewInput& input() const { return m_input; }

  void select(const Selection& selection);
  void setTheme(const Theme& theme);
  /// For hints that name keys.
  void setKeys(KeyTexts keys);
  /// Whether texts of documents and questions may be sent to this endpoint; asked before a run that would.
  /// What is on this machine is not asked about, and without an answer nothing is sent elsewhere.
  using ServerConsent = std::function<bool(const QString& endpoint)>;
  void setServerConsent(ServerConsent consent) { m_consent = std::move(consent); }
  /// Shows the state after so many events; the newest one is followed from then on.
  void setPosition(std::size_t position);
  /// Forecasts compare the layouts as well from now on, or do not.
  void compareLayouts(bool compares) { m_forecasts.compareLayouts(compares); }
  /// Shows a run as it was at its end, and the state of its session then; the newest run of the document is
  /// followed. Nothing happens where its trace has been let go.
  void showRun(RunId run);
  /// The run of the current document so many before (negative) or after the one in view whose trace is there;
  /// 0: there is none.
  RunId runBeside(int steps) const;
  /// The run of the current document that is in view; 0: none.
  RunId shownRun() const;
  const RunHistory& history() const { return m_history; }
  /// Keeps runs in this folder, those so far included, and takes in what earlier programs kept there. To be
  /// called before the first run for the latter.
  void keepRuns(const QString& folder);
  /// Removes what is kept and keeps no more.
  void forgetKeptRuns();
  bool keepsRuns() const { return m_archive != nullptr; }
  /// What a new document is to run on, as RunSettings::model has it: the model of the current one, else that
  /// of the last run.
  std::string modelInUse() const;
  /// Directory of the checkpoint that the document runs on; empty where the bundled one is not there.
  static std::string runsOn(const OpenDocument& document);
  /// Directories of models that were used before, the newest first.
  void setRecentModels(std::vector<std::string> directories);

  /// Runs the document, or the subtree of a node; `asker` answers its questions. Returns why not, in words;
  /// nothing if it was started.
  QString run(document::NodeId top = document::kNoNode, const Asker& asker = {});
  /// Computes the attention of an answer again. Returns why not, in words; nothing if it was started.
  QString replayAttention(const ReplayChoice& choice);
  /// Measures how close these answers are to a full prefill. Returns why not, in words; nothing if it was
  /// started.
  QString measureFidelity(const std::vector<RequestId>& requests);
  /// Measures the document: its query, or made-up documents on its model. Returns why not, in words; nothing
  /// if it was started.
  QString benchmark(BenchmarkKind kind, std::int32_t repeats, const Asker& asker = {});
  /// Carries an experiment out on the model of the current document. Returns why not, in words; nothing if it
  /// was started.
  QString experiment(const experiment::ExperimentWish& wish);
  /// What is remembered of loading beside computing; loadsMeasured() says when it changes.
  void setLoads(LoadComparisons loads);
  /// Writes the events of the current document's trace to a file; what was wrong, or nothing.
  QString saveTrace(const QString& path) const;

 Q_SIGNALS:
  void currentChanged();
  void documentsChanged();  ///< tabs or their titles
  void inputChanged();      ///< at most once a frame
  void runEnded(const QString& error);
  void attentionReplayed(const QString& error);
  void fidelityMeasured(const QString& error);
  void keepingFailed(const QString& problem);
  void loadsMeasured();  ///< input().loads has another comparison

 private:
  /// A query of the current document that is to be run, up to where the engine goes on.
  struct Prepared {
    query::Node query;
    document::NodePaths paths;
    std::optional<RetrievalRequest> retrieval;  ///< of the query, where it has an augment
  };
  void keepLoads(const ExperimentRun& run);
  /// Why nothing of the current document can be run now, in words.
  QString refusal() const;
  /// Why not, in words; nothing where `prepared` holds it.
  QString prepare(document::NodeId top, const Asker& asker, Prepared& prepared);
  void invalidate();
  void drain();
  /// The largest numbers of runs and requests that this program knows.
  RunNumbers lastNumbers() const;
  void boundTrace();
  void boundHistory();
  void takeStart(const trace::Event& event);
  void bindHistory(OpenDocument& document) const;
  void endSession();
  void showTokenizer();
  void update();
  void showForecast();
  ReplayState replayState() const;
  bool isTyped() const;
  void readIdentities();
  void readIdentitiesAnew();
  /// The server that a run of the query takes vectors from, if any; why it may not, in words.
  QString findEmbeddings(const query::Node& query, RetrievalRequest& request) const;
  void bindRuns(OpenDocument& document) const;

  EngineHost m_engine;
  Forecasts m_forecasts{m_engine};
  ServerConsent m_consent;
  std::shared_ptr<LiveSource> m_live = std::make_shared<LiveSource>();
  std::uint64_t m_keptBytes;  ///< most of it that is kept
  std::vector<std::unique_ptr<OpenDocument>> m_documents;
  OpenDocument* m_current = nullptr;
  std::uint32_t m_nextId = 1;

  ReplayState m_replay;
  std::uint32_t m_runner = 0;          ///< tab whose run was started last
  std::uint32_t m_measured = 0;        ///< tab whose benchmark was started last
  std::optional<RunRecord> m_pending;  ///< of that run, until its RunStarted event came
  RunHistory m_history;
  std::unique_ptr<RunArchive> m_archive;  ///< null: runs end with the program
  std::string m_lastModel;                ///< RunSettings::model of the last run
  /// Of models that are not loaded; null: asked for.
  std::map<std::string, std::shared_ptr<const text::Tokenizer>> m_tokenizers;

  ViewInput m_input;
  SegmentBook m_book;
  /// What the identities of the input were read from.
  struct Identified {
    std::uint32_t tab = 0;
    std::shared_ptr<const document::Document> document;
    std::shared_ptr<const TraceStore> trace;
    std::size_t runs = 0;
    std::size_t ownRuns = 0;
  };
  Identified m_identified;
  QTimer m_frame;   ///< one frame's wait before views are told
  QTimer m_typing;  ///< until the person who types has paused
};

}  // namespace spanscope::ui
