// SPDX-License-Identifier: GPL-3.0-or-later
// Turns what a person does in the window into the steps of a lesson. The window tells what is in view and
// what has happened; what a lesson cannot say is told in words.
#pragma once

#include "engine/lesson/lesson_run.h"
#include "engine/lesson/recording.h"
#include "ui/session/selection.h"
#include "ui/session/trace_store.h"

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
};

/// A query of the recorded lesson, with the name of the file that it is to have beside the lesson.
struct RecordedQuery {
  std::string name;
  document::Document document;
};

class LessonRecorder : public QObject {
  Q_OBJECT
 public:
  /// Begins with what is in view, as the first step. The cache is empty.
  explicit LessonRecorder(const SeenNow& now, QObject* parent = nullptr);

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
  void setTexts(const QString& title, const QString& text, const QString& question, const QString& after);
  /// Forgets an action of the step in view. A run and what opens a query stay, since others depend on them.
  bool canForget(std::size_t action) const;
  void forget(std::size_t action);

  lesson::Head head;  ///< its title, minutes and what one knows after it; the rest is filled in by text()
  std::uint32_t runs() const { return static_cast<std::uint32_t>(m_runs.size()); }
  const QString& unsaid() const { return m_unsaid; }
  const std::string& model() const { return m_model; }  ///< RunSettings::model of the first document
  /// What is to be written beside the lesson.
  const std::vector<RecordedQuery>& queries() const { return m_queries; }
  /// The lesson's file, if `model` is what its head says and the names of its queries have this prefix; takes
  /// in what was changed last.
  std::string text(const std::string& model, const QString& prefix);

 Q_SIGNALS:
  void changed();

 private:
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
  std::vector<RunId> m_runs;
  std::optional<trace::RunFacts> m_facts;  ///< of the last
  std::size_t m_scrubbed = 0;              ///< event of the last run that was gone to; 0: its end
  QString m_unsaid;
};

}  // namespace spanscope::ui
