// SPDX-License-Identifier: GPL-3.0-or-later
// Holds the progress of a learner in an open lesson. LessonCourse carries out the actions of steps in the
// window, one after the other. LessonCourse can restore the end of every step: document, settings, run and
// views.
//
// LessonCourse has the state of the lesson. The window has the document, which the learner may change at any
// time. Runs of the learner change the cache. Before the lesson's next run, LessonCourse restores the cache:
// it empties the cache and repeats the runs of the lesson.
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
  /// The problems of the lesson, in the order of the text. A lesson with an error cannot be opened.
  std::vector<query::Diagnostic> diagnostics;

  /// Returns the name of the lesson in settings: the file name of a bundled lesson, else the path.
  QString key() const;
};

/// Reads and checks a lesson. Throws Failure if the file cannot be read.
std::shared_ptr<const LessonFile> openLesson(const QString& path);

/// A question by its place in the lesson.
struct QuestionPlace {
  std::size_t step = 0;   ///< from 0
  std::size_t block = 0;  ///< within the step, from 0
  auto operator<=>(const QuestionPlace&) const = default;
};

/// The answer of a learner: a number as it was typed, or the index of a choice. Without both, the learner
/// skipped the question.
struct LessonAnswer {
  QString number{};
  std::optional<std::size_t> choice{};
  bool isGiven() const { return choice.has_value() || !number.isEmpty(); }
  bool operator==(const LessonAnswer&) const = default;
};

class LessonCourse : public QObject {
  Q_OBJECT
 public:
  /// `stage` must outlive the course. The lesson must have no errors.
  LessonCourse(std::shared_ptr<const LessonFile> file, LessonStage& stage, QObject* parent = nullptr);

  const LessonFile& file() const { return *m_file; }
  const lesson::Lesson& lesson() const { return m_file->lesson; }
  std::size_t steps() const { return lesson().steps.size(); }
  const lesson::LessonFacts& facts() const { return m_facts; }

  /// Goes to a step. The cache of the stage must be empty. Skips the questions before this step.
  void begin(std::size_t step = 0);
  /// The current step, which the window shows, from 0.
  std::size_t step() const { return m_at; }
  /// The last step that the learner reached, from 0.
  std::size_t reached() const { return m_step; }
  /// Number of readable blocks of the current step: the finished blocks, and a question that waits.
  std::size_t readable() const;
  /// The question of the current step that waits for an answer.
  std::optional<QuestionPlace> waiting() const;
  const LessonAnswer* answerTo(const QuestionPlace& place) const;  ///< nullptr: there is none yet
  /// Returns the run of the lesson that decides the question, from 1.
  std::uint32_t decidedBy(const QuestionPlace& place) const;
  /// Whether the question is about a run that has ended. The stage hides this run while the question waits.
  /// Questions for a block are not included.
  bool asksAboutEnded(const QuestionPlace& place) const;

  bool canGoOn() const { return !m_isBusy && m_at + 1 < steps(); }
  bool canGoBack() const { return !m_isBusy && m_at > 0; }
  /// Goes to a step. Restores the end of a step that was reached before. Otherwise carries out all actions up
  /// to the step, and skips all earlier questions. Does nothing while the lesson runs something.
  void goTo(std::size_t step);
  void next() { goTo(m_at + 1); }
  void back();
  /// Restores the current step as the lesson left this step. Free play ends.
  void comeBack();
  void answer(const QuestionPlace& place, LessonAnswer answer);
  /// Replaces an answer whose deciding run has not ended.
  void changeAnswer(const QuestionPlace& place, LessonAnswer answer);

  /// An action for which the lesson waits, or has waited in the same block of actions.
  struct Task {
    const lesson::Action* action = nullptr;
    bool isDone = false;
  };
  /// Returns the actions that the learner has to carry out now, and the finished ones of the same block.
  /// Empty: the lesson does not wait for the learner.
  std::vector<Task> tasks() const;
  /// Carries out these actions for the learner.
  void doTasks();
  /// Compares the document of the window with the wanted one. The window calls this function after each
  /// change.
  void see();
  /// Returns the targets of the readable links in the current step, and the selection of the step. Each
  /// target is in the list once.
  std::vector<lesson::Target> spokenOf() const;
  /// Returns the selection of a target in the document and run of the current step. Nothing: the target does
  /// not exist there. A text before a swap means the nodes as they were. Its targets have the new places of
  /// these nodes.
  std::optional<Selection> selectionFor(const lesson::Target& target) const;
  /// Selects a target of the text. The state of the step does not change.
  void point(const lesson::Target& target);

  /// The server that the learner chose for the runs of this lesson; empty: the embedded engine.
  const std::string& server() const { return m_server; }
  /// Sets the server for all later runs, including repeated ones. The document in the window changes with
  /// comeBack().
  void setServer(const std::string& name);

  /// The document of the lesson in the current step. Null: the step has no open document.
  const document::Document* document() const;
  /// Whether the lesson neither waits for the learner nor acts from this step on. The learner then is free to
  /// try things.
  bool isFree() const;
  /// Whether the learner has changed or run something after the lesson's last action. Work on tasks() does
  /// not count, and no work counts in a step that isFree().
  bool isPlaying(const document::Document* shown) const;
  bool isBusy() const { return m_isBusy; }
  /// The reason why the step could not continue, in words. Empty: the step could continue. goOn() tries
  /// again.
  const QString& problem() const { return m_problem; }
  void goOn();
  /// The window calls this function when a job of the lesson's tab has ended. `problem` is a text for the
  /// user. Empty: the job succeeded.
  void jobEnded(const QString& problem);
  /// Returns the dock that the current step showed last. Empty: there is none.
  QString dock() const;
  /// Returns the number of the block that is selected in the last run of the current step. Nothing: no block
  /// is selected.
  std::optional<std::size_t> selectedBlock(const Selection& selection) const;

 Q_SIGNALS:
  void changed();  ///< step, texts, answers or problem

 private:
  /// The target with the node's place after the swaps that follow its last link in the current step.
  lesson::Target afterSwaps(lesson::Target target) const;
  /// The state of the lesson at a place.
  struct State {
    std::shared_ptr<const lesson::LessonState> desk;
    std::string query;  ///< the open query, by its name in the head; empty: none
    LessonView view;
    std::uint32_t runs = 0;  ///< number of runs of the lesson so far
  };
  /// A run of the lesson, with the document that it ran. The run can be repeated.
  struct Made {
    RunId run = 0;
    std::string query;
    document::Document document;
  };
  enum class Working : std::uint8_t { Nothing, Run, Repeat, Fidelity, Rotation };

  const State& stateInView() const;
  document::Document documentOf(const State& state) const;
  void takeMachine(lesson::LessonState& desk) const;
  void proceed();
  /// Carries out an action. Returns whether the next action can follow immediately.
  bool carryOut(const lesson::Action& action);
  bool startRun();
  /// Takes a run of the learner as the wanted run of the lesson.
  void takeLearnersRun(const QString& problem);
  void endRun(const QString& problem);
  bool repeatRuns();
  void fail(const QString& problem);
  /// Whether the learner has answered a question that a later run decides.
  bool hasOpenAnswer() const;
  void rest();                 ///< waits for the learner
  void work(Working working);  ///< waits for the engine
  void showState(const State& state, const QString& change);
  /// Reports the shown step. If Rotation is the dock of the step, its vectors are computed first.
  void arrive();
  void bringDocument(const State& state, const QString& change);
  /// Reads the facts of a run from its events. If the events are gone, the old facts stay.
  void readFacts(std::size_t index);

  std::shared_ptr<const LessonFile> m_file;
  std::string m_server;
  LessonStage& m_stage;
  State m_now;                ///< the state at the cursor
  std::vector<State> m_ends;  ///< the ends of the steps before the cursor's step
  std::size_t m_step = 0;     ///< cursor: the next action
  std::size_t m_block = 0;
  std::size_t m_action = 0;
  std::size_t m_helped = 0;  ///< number of the block's actions that the lesson carries out for the learner
  std::size_t m_at = 0;      ///< the current step, which the window shows
  std::size_t m_goal = 0;    ///< the step to reach
  bool m_begun = false;
  std::map<QuestionPlace, LessonAnswer> m_answers;

  std::vector<Made> m_made;  ///< entry n − 1 is run n
  lesson::LessonFacts m_facts;
  /// The changes of the cache by the lesson: indices of runs, and kEmptied where it was emptied.
  static constexpr std::size_t kEmptied = static_cast<std::size_t>(-1);
  std::vector<std::size_t> m_cacheLog;
  EngineMark m_mark;       ///< the engine after the last change by the lesson
  EngineMark m_seen;       ///< the engine when the lesson last showed a state
  bool m_isStale = false;  ///< the window does not show all of m_now
  Working m_working = Working::Nothing;
  std::size_t m_repeated = 0;  ///< number of entries of the log that were repeated
  std::size_t m_measured = 0;  ///< index of the run whose fidelity is measured
  RunId m_before = 0;          ///< the newest run when the job was started
  bool m_isBusy = false;
  QString m_problem;
};

}  // namespace spanscope::ui
