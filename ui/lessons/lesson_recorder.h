// SPDX-License-Identifier: GPL-3.0-or-later
// Turns the user's actions in the window into the steps of a lesson. The window reports its views and events
// to the recorder. The recorder reports actions that a lesson cannot have, in words.
#pragma once

#include "engine/lesson/expression.h"
#include "engine/lesson/lesson_run.h"
#include "engine/lesson/recording.h"
#include "ui/lessons/recording_file.h"
#include "ui/session/selection.h"
#include "ui/session/trace_store.h"

#include <QByteArray>
#include <QObject>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::ui {

/// The state of the window at a moment.
struct SeenNow {
  std::uint32_t tab = 0;  ///< 0: there is no query that can run
  QString title{};        ///< the title of the tab's document
  std::shared_ptr<const document::Document> document{};
  std::string layout{};
  Selection selection{};
  RunId run = 0;                              ///< the run that the window shows
  std::shared_ptr<const TraceStore> trace{};  ///< the events of the run; may be null
  std::size_t position = 0;                   ///< the position of the scrubber
  bool isAtEnd = true;                        ///< the scrubber follows the newest event
  bool isBusy = false;                        ///< a job of the tab runs
  QString beside{};  ///< the query reads files from the folder of this file; may be empty
};

/// A possible target of a link in a lesson's text.
struct LinkedPart {
  QString name;     ///< for the user: "block 3", "Where does Mira live?"
  QString address;  ///< "block:3"
};

class LessonRecorder : public QObject {
  Q_OBJECT
 public:
  /// Begins the first step with the current state of the window. The cache must be empty.
  explicit LessonRecorder(const SeenNow& now, QObject* parent = nullptr);
  /// Reads a recording that saved() has written. Null: the bytes are no recording. The recorder is paused,
  /// because this program has not made its runs.
  static std::unique_ptr<LessonRecorder> recovered(const QByteArray& saved);
  /// Writes all actions and texts of the user, so that the recording outlives the program.
  QByteArray saved();

  /// A paused recorder ignores all reports.
  bool isPaused() const { return m_isPaused; }
  static constexpr std::size_t kEmptied = static_cast<std::size_t>(-1);
  /// Returns all changes of the cache in order: indices of runs, and kEmptied where the cache was emptied. A
  /// recovered recording repeats these changes.
  std::vector<std::size_t> cacheLog() const;
  /// Returns the document of a run, by its index.
  const document::Document& ran(std::size_t run) const { return *m_made[run].document; }
  /// Reports that a run of a recovered recording was repeated.
  void noteRepeated(std::size_t run, RunId id, const std::shared_ptr<const TraceStore>& trace);
  const std::string& layout() const { return m_now.layout; }  ///< the last layout of the window.
  /// The last active document, its title, and the file in whose folder its query reads files.
  const document::Document& document() const { return m_document; }
  const QString& documentTitle() const { return m_now.title; }
  const QString& beside() const { return m_now.beside; }
  /// Continues with the current state of the window. document() must be the active document.
  void resume(const SeenNow& now);

  /// Reports the current state of the window. The window calls this function with every frame.
  void see(const SeenNow& now);
  // The functions below report events. The events concern the last state of see().

  /// Records that the step selects the selected part. Other selections are not recorded.
  void noteSelection();
  void noteDock(const QString& id);
  void noteZoom(const QString& how);
  void noteRun(RunId run);       ///< the run has finished
  void noteFidelity(RunId run);  ///< the run was compared with a full prefill
  void noteEmptied();
  void noteCompared(RunId one, RunId other);
  void noteExperiment(const QString& name);
  /// Reports an action that a lesson cannot have, as a sentence for the user.
  void noteUnsaid(const QString& what);

  /// Returns a title in lower case with only ASCII letters, digits and hyphens. Every system accepts the
  /// result as a file name. Returns "query" if nothing is left.
  static QString fileStem(const QString& title);

  /// Adds a step at the end, and goes to it.
  void newStep();
  std::size_t steps() const { return m_steps.size(); }
  std::size_t step() const { return m_at; }
  void goTo(std::size_t step);
  const lesson::RecordedStep& at(std::size_t step) const { return m_steps[step]; }
  /// Sets the texts of the current step: the title, the text before the runs, and the text after the runs.
  void setTexts(const QString& title, const QString& text, const QString& after);
  void setQuestion(lesson::RecordedQuestion question);
  void setHolds(const QString& lines);
  void setHead(const QString& title, int minutes, const QString& after);
  /// Whether the current step can be removed. A step with runs or changes cannot be removed. The only step
  /// cannot be removed.
  bool canRemoveStep() const;
  void removeStep();
  /// Whether an action of the current step can be removed. Only actions that change only the view can be
  /// removed, because later actions depend on all other actions.
  bool canForget(std::size_t action) const;
  void forget(std::size_t action);

  /// The title and minutes of the lesson, and the knowledge that it teaches. text() fills in the rest.
  const lesson::Head& head() const { return m_head; }
  std::uint32_t runs() const { return static_cast<std::uint32_t>(m_made.size()); }
  /// Returns the words of an action of the current step. Nodes have their names, and runs their number in the
  /// lesson. If the window shows another number for the run, the words also have that number.
  QString wordsOf(std::size_t action) const;
  /// Number of runs in the steps before the current one, and in the current step.
  std::uint32_t runsBefore() const;
  std::uint32_t runsInStep() const;
  /// Returns the facts of the runs. The function must not outlive the recorder.
  lesson::FactsOf factsOf() const;
  /// Returns the selected parts that a link can have as its target. The smallest part is first.
  std::vector<LinkedPart> selectedParts() const;
  std::optional<NodePath> selectedNode() const;
  /// The name of that node for the user; empty: no node is selected.
  QString selectedNodeName() const;
  /// The last text of noteUnsaid(), or of the recorder itself. Empty: there is none.
  const QString& unsaid() const { return m_unsaid; }
  const std::string& model() const { return m_model; }  ///< RunSettings::model of the first document
  /// The queries to write to the folder of the lesson.
  const std::vector<RecordedQuery>& queries() const { return m_queries; }
  /// Returns the text of the lesson's file, including the last changes. `model` is the model in the file's
  /// head. The names of the lesson's queries get the prefix.
  std::string text(const std::string& model, const QString& prefix);

 Q_SIGNALS:
  void changed();  ///< the actions changed
  void edited();   ///< the actions or the texts changed

 private:
  LessonRecorder() = default;
  /// A run of the lesson, with the document that it ran.
  struct Made {
    RunId run = 0;  ///< 0: the run was not repeated after the start of the program
    std::shared_ptr<const document::Document> document;
    std::optional<metrics::RunFacts> facts;
  };
  void reportChange();
  void readFacts(std::size_t index, const std::shared_ptr<const TraceStore>& trace);
  const metrics::RunFacts* lastFacts() const;
  std::string lastOpened() const;  ///< returns the query's name in `m_queries`
  std::vector<std::shared_ptr<const document::Document>> ranDocuments() const;
  std::optional<NodePath> pathOf(document::NodeId node) const;
  /// Adds the changes of the active document since the last call.
  void takeChanges();
  void open(const SeenNow& now);
  void noteModel(const std::string& model);
  void add(lesson::Action action);
  void takePosition();
  /// Returns the target of a selection. Nothing: a lesson cannot have this selection.
  std::optional<lesson::Target> targetOf(const Selection& selection) const;
  std::optional<std::size_t> numberOf(RunId run) const;  ///< the number of the run in the lesson, from 1

  lesson::Head m_head;
  bool m_isPaused = false;
  SeenNow m_now;
  /// The document after the actions so far.
  document::Document m_document;
  document::RunSettings m_settings;
  std::string m_model;
  std::vector<lesson::Assignment> m_firstSettings;
  std::vector<RecordedQuery> m_queries;
  std::map<std::uint32_t, std::string> m_opened;  ///< by tab: the name of its query
  std::vector<lesson::RecordedStep> m_steps;
  std::size_t m_at = 0;
  std::vector<Made> m_made;    ///< entry n − 1 is run n
  std::size_t m_scrubbed = 0;  ///< last shown event of the last run; 0: the scrubber was at the end
  QString m_unsaid;
};

}  // namespace spanscope::ui
