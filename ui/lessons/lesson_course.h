// SPDX-License-Identifier: GPL-3.0-or-later
// Where a learner is in a lesson. It carries out the actions of steps on the window, one after the other, and
// can show every step again as it was at its end: document, settings, run and views.
//
// The lesson's own state is kept here, beside the document in the window, which the learner may change at any
// time. What they ran meanwhile has changed the cache: before the lesson's next run it is put back, by
// emptying it and repeating the lesson's runs.
#pragma once

#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_folder.h"
#include "engine/lesson/lesson_run.h"
#include "engine/lesson/lesson_state.h"
#include "engine/query/diagnostic.h"
#include "ui/lessons/lesson_actions.h"

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

/// A lesson that was read and checked.
struct LessonFile {
  QString path;
  lesson::Lesson lesson;
  lesson::LessonFolder folder;
  /// What is wrong with it, in the order of the text; with an error it cannot be opened.
  std::vector<query::Diagnostic> diagnostics;

  /// Its name in settings: the file name of a bundled lesson, else the path.
  QString key() const;
};

/// Throws Failure if the file cannot be read.
std::shared_ptr<const LessonFile> openLesson(const QString& path);

/// A question by its place in the lesson.
struct QuestionPlace {
  std::size_t step = 0;   ///< from 0
  std::size_t block = 0;  ///< of the step, from 0
  auto operator<=>(const QuestionPlace&) const = default;
};

/// What a learner answered: a number as it was typed, or the index of a choice. Nothing of both: passed over.
struct LessonAnswer {
  QString number{};
  std::optional<std::size_t> choice{};
  bool isGiven() const { return choice.has_value() || !number.isEmpty(); }
  bool operator==(const LessonAnswer&) const = default;
};

class LessonCourse : public QObject {
  Q_OBJECT
 public:
  /// `stage` must outlive the course. The lesson has no errors.
  LessonCourse(std::shared_ptr<const LessonFile> file, LessonStage& stage, QObject* parent = nullptr);

  const LessonFile& file() const { return *m_file; }
  const lesson::Lesson& lesson() const { return m_file->lesson; }
  std::size_t steps() const { return lesson().steps.size(); }
  const lesson::LessonFacts& facts() const { return m_facts; }

  /// Empties the cache and goes to a step; passes over the questions before it.
  void begin(std::size_t step = 0);
  /// The step in view, from 0.
  std::size_t step() const { return m_at; }
  /// The furthest step that was reached.
  std::size_t reached() const { return m_step; }
  /// So many blocks of the step in view are to be read: those before the first whose end is not reached, and
  /// a question that waits.
  std::size_t readable() const;
  /// The question in view that waits for an answer.
  std::optional<QuestionPlace> waiting() const;
  const LessonAnswer* answerTo(const QuestionPlace& place) const;  ///< nullptr: none yet
  /// The run of the lesson, from 1, that decides the question.
  std::uint32_t decidedBy(const QuestionPlace& place) const;

  bool canGoOn() const { return !m_isBusy && m_at + 1 < steps(); }
  bool canGoBack() const { return !m_isBusy && m_at > 0; }
  /// To a step, back as it was at its end, or on to it for the first time; passes over questions between.
  /// Does nothing while the lesson runs something.
  void goTo(std::size_t step);
  void next() { goTo(m_at + 1); }
  void back();
  /// Shows the step in view again as the lesson left it: the end of free play.
  void comeBack();
  void answer(const QuestionPlace& place, LessonAnswer answer);
  /// What the text of the step in view speaks of, as far as it is to be read: the targets of its links and
  /// what the step has selected, each once.
  std::vector<lesson::Target> spokenOf() const;
  /// What selects it in the document and run of the step in view; nothing: it is not there.
  std::optional<Selection> selectionFor(const lesson::Target& target) const;
  /// Selects something that the text speaks of, without it being part of the step.
  void point(const lesson::Target& target);

  /// The server that the learner chose for the runs of this lesson; empty: the embedded engine.
  const std::string& server() const { return m_server; }
  /// Also of the runs that are repeated. Does not change the document in the window: comeBack() does.
  void setServer(const std::string& name);

  /// The document of the lesson, as it is in the step in view; null: none is open there.
  const document::Document* document() const;
  /// Whether the learner has changed or run something since the lesson last did.
  bool isPlaying(const document::Document* shown) const;
  bool isBusy() const { return m_isBusy; }
  /// Why the step could not go on, in words; empty: it did. goOn() tries again.
  const QString& problem() const { return m_problem; }
  void goOn();
  /// The window tells that work of the lesson's tab has ended; `problem` as it is said to people.
  void jobEnded(const QString& problem);
  /// The dock that the step in view spoke of last; empty: none.
  QString dock() const;
  /// The number of the block that is selected in the last run of the step in view; nothing: none.
  std::optional<std::size_t> selectedBlock(const Selection& selection) const;

 Q_SIGNALS:
  void changed();  ///< step, texts, answers or problem

 private:
  /// What the lesson has come to at a place.
  struct State {
    std::shared_ptr<const lesson::LessonState> desk;
    std::string query;  ///< that is open, by its name in the head; empty: none
    LessonView view;
    std::uint32_t runs = 0;  ///< that were made by then
  };
  /// A run of the lesson, and what it ran, so that it can be repeated.
  struct Made {
    RunId run = 0;
    std::string query;
    document::Document document;
  };
  enum class Working : std::uint8_t { Nothing, Run, Repeat, Fidelity };

  const State& stateInView() const;
  document::Document documentOf(const State& state) const;
  void takeMachine(lesson::LessonState& desk) const;
  void proceed();
  /// Returns whether the next action can follow at once.
  bool carryOut(const lesson::Action& action);
  bool startRun();
  bool repeatRuns();
  void fail(const QString& problem);
  void rest();                 ///< waits for the learner
  void work(Working working);  ///< waits for the engine
  void showState(const State& state, const QString& change);
  void bringDocument(const State& state, const QString& change);
  /// What is known of the run now; its facts stay where its events are gone.
  void readFacts(std::size_t index);

  std::shared_ptr<const LessonFile> m_file;
  std::string m_server;
  LessonStage& m_stage;
  State m_now;                ///< at the cursor
  std::vector<State> m_ends;  ///< of the steps before the cursor's
  std::size_t m_step = 0;     ///< cursor: what is to be done next
  std::size_t m_block = 0;
  std::size_t m_action = 0;
  std::size_t m_at = 0;    ///< the step in view
  std::size_t m_goal = 0;  ///< the step to be reached
  bool m_begun = false;
  std::map<QuestionPlace, LessonAnswer> m_answers;

  std::vector<Made> m_made;  ///< entry n − 1 is run n
  lesson::LessonFacts m_facts;
  /// What the lesson did to the cache: runs by their index, kEmptied where it was emptied.
  static constexpr std::size_t kEmptied = static_cast<std::size_t>(-1);
  std::vector<std::size_t> m_cacheLog;
  EngineMark m_mark;       ///< after what the lesson did last
  EngineMark m_seen;       ///< when the lesson showed something last
  bool m_isStale = false;  ///< the window does not show all of m_now
  Working m_working = Working::Nothing;
  std::size_t m_repeated = 0;  ///< entries of the log that were done again
  std::size_t m_measured = 0;  ///< index of the run whose fidelity is measured
  RunId m_before = 0;          ///< newest run when the work was started
  bool m_isBusy = false;
  QString m_problem;
};

}  // namespace spanscope::ui
