// SPDX-License-Identifier: GPL-3.0-or-later
// Turns what a person does in the window into the steps of a lesson. The window tells what is in view and
// what has happened; what a lesson cannot say is told in words.
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

/// What the window shows at a moment.
struct SeenNow {
  std::uint32_t tab = 0;  ///< 0: no query that could be run
  QString title{};        ///< of its document
  std::shared_ptr<const document::Document> document{};
  std::string layout{};
  Selection selection{};
  RunId run = 0;                              ///< in view
  std::shared_ptr<const TraceStore> trace{};  ///< its events; may be null
  std::size_t position = 0;                   ///< of the scrubber
  bool isAtEnd = true;                        ///< the scrubber follows the newest event
  bool isBusy = false;                        ///< something of the tab is being run
  QString beside{};                           ///< the file beside which its query reads files; may be empty
};

/// A part that a link in a lesson's text can lead to.
struct LinkedPart {
  QString name;     ///< for people: "block 3", "the node /g/input"
  QString address;  ///< "block:3"
};

class LessonRecorder : public QObject {
  Q_OBJECT
 public:
  /// Begins with what is in view, as the first step. The cache is empty.
  explicit LessonRecorder(const SeenNow& now, QObject* parent = nullptr);
  /// What saved() has written; null: it is no such thing. It is paused, since none of its runs has been made.
  static std::unique_ptr<LessonRecorder> recovered(const QByteArray& saved);
  /// All that a person did and wrote, so that it outlives the program.
  QByteArray saved();

  /// While it is paused, nothing that is told is recorded.
  bool isPaused() const { return m_isPaused; }
  /// Of a recovered recording, for which its runs are made again: what was done to the cache, runs by their
  /// index and kEmptied where it was emptied; and what each of them ran.
  static constexpr std::size_t kEmptied = static_cast<std::size_t>(-1);
  std::vector<std::size_t> cacheLog() const;
  const document::Document& ran(std::size_t run) const { return *m_made[run].document; }
  void noteRepeated(std::size_t run, RunId id, const std::shared_ptr<const TraceStore>& trace);
  const std::string& layout() const { return m_now.layout; }  ///< of the window, that was seen last
  /// The document that was in view, its title, and where its query reads files.
  const document::Document& document() const { return m_document; }
  const QString& documentTitle() const { return m_now.title; }
  const QString& beside() const { return m_now.beside; }
  /// Goes on with what is in view, in which document() is the current one.
  void resume(const SeenNow& now);

  /// Tells what is in view now; called with every frame.
  void see(const SeenNow& now);
  /// Tells what has happened to what was seen last.
  void noteDock(const QString& id);
  void noteZoom(const QString& how);
  void noteRun(RunId run);       ///< it has finished
  void noteFidelity(RunId run);  ///< it was held against a full prefill
  void noteEmptied();
  void noteCompared(RunId one, RunId other);
  void noteExperiment(const QString& name);
  /// Something that a lesson cannot say: a sentence for the person.
  void noteUnsaid(const QString& what);

  /// Letters, digits and hyphens of a title, so that it is a file's name everywhere.
  static QString fileStem(const QString& title);

  /// Begins another step, and goes to it.
  void newStep();
  std::size_t steps() const { return m_steps.size(); }
  std::size_t step() const { return m_at; }
  void goTo(std::size_t step);
  const lesson::RecordedStep& at(std::size_t step) const { return m_steps[step]; }
  /// Of the step in view: its title, what is read first, and what is read after its runs.
  void setTexts(const QString& title, const QString& text, const QString& after);
  void setQuestion(lesson::RecordedQuestion question);
  void setHolds(const QString& lines);
  void setHead(const QString& title, int minutes, const QString& after);
  /// Whether the step in view can go: nothing was run or changed in it, and it is not the only one.
  bool canRemoveStep() const;
  void removeStep();
  /// Forgets an action of the step in view. A run and what opens a query stay, since others depend on them.
  bool canForget(std::size_t action) const;
  void forget(std::size_t action);

  /// Its title, minutes and what one knows after it; the rest is filled in by text().
  const lesson::Head& head() const { return m_head; }
  std::uint32_t runs() const { return static_cast<std::uint32_t>(m_made.size()); }
  /// How many runs stand before the step in view, and in it.
  std::uint32_t runsBefore() const;
  std::uint32_t runsInStep() const;
  /// What is known of the runs. It must not outlive the recorder.
  lesson::FactsOf factsOf() const;
  /// What is selected in the window, the smallest part first; what a link can lead to.
  std::vector<LinkedPart> selectedParts() const;
  std::optional<NodePath> selectedNode() const;
  const QString& unsaid() const { return m_unsaid; }
  const std::string& model() const { return m_model; }  ///< RunSettings::model of the first document
  /// What is to be written beside the lesson.
  const std::vector<RecordedQuery>& queries() const { return m_queries; }
  /// The lesson's file, if `model` is what its head says and the names of its queries have this prefix; takes
  /// in what was changed last.
  std::string text(const std::string& model, const QString& prefix);

 Q_SIGNALS:
  void changed();  ///< what was done
  void edited();   ///< what was done or written

 private:
  LessonRecorder() = default;
  /// A run of the lesson, and what it ran.
  struct Made {
    RunId run = 0;  ///< 0: it has not been made again since the program was started
    std::shared_ptr<const document::Document> document;
    std::optional<metrics::RunFacts> facts;
  };
  void reportChange();
  void readFacts(std::size_t index, const std::shared_ptr<const TraceStore>& trace);
  const metrics::RunFacts* lastFacts() const;
  std::string lastOpened() const;  ///< by its name in `m_queries`
  std::vector<std::shared_ptr<const document::Document>> ranDocuments() const;
  std::optional<NodePath> pathOf(document::NodeId node) const;
  /// Takes in how the document in view was changed since it was last looked at.
  void takeChanges();
  void open(const SeenNow& now);
  void noteModel(const std::string& model);
  void add(lesson::Action action);
  void takeSelection();
  void takePosition();
  /// The target that selects this; nothing: a lesson cannot say it.
  std::optional<lesson::Target> targetOf(const Selection& selection) const;
  std::optional<std::size_t> numberOf(RunId run) const;  ///< in the lesson, from 1

  lesson::Head m_head;
  bool m_isPaused = false;
  SeenNow m_now;
  /// As the actions so far leave it.
  document::Document m_document;
  document::RunSettings m_settings;
  std::string m_model;
  std::vector<lesson::Assignment> m_firstSettings;
  std::vector<RecordedQuery> m_queries;
  std::map<std::uint32_t, std::string> m_opened;  ///< the query that a tab was opened as
  std::vector<lesson::RecordedStep> m_steps;
  std::size_t m_at = 0;
  std::vector<Made> m_made;    ///< entry n − 1 is run n
  std::size_t m_scrubbed = 0;  ///< event of the last run that was gone to; 0: its end
  QString m_unsaid;
};

}  // namespace spanscope::ui
