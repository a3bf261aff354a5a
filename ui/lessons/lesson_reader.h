// SPDX-License-Identifier: GPL-3.0-or-later
// The panel in which the user reads lessons.
#pragma once

#include "engine/lesson/answers.h"
#include "engine/lesson/filled.h"
#include "ui/lessons/lesson_course.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QPointer>
#include <QRect>

#include <map>
#include <memory>
#include <optional>
#include <vector>

class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;
class QSettings;
class QStackedWidget;
class QToolButton;
class QVBoxLayout;

namespace spanscope::ui {

class LessonList;
class LessonQuestion;
class LessonText;

/// The panel next to the views. The panel shows the list of lessons, or one step of a lesson.
class LessonReader : public QFrame {
  Q_OBJECT
 public:
  /// `settings` stores the progress of the learner. `settings` and `stage` must outlive the reader.
  LessonReader(QSettings& settings, LessonStage& stage, QWidget* parent = nullptr);
  ~LessonReader() override;

  /// Shows the list of lessons. An open lesson stays open.
  void showLessons();
  /// Opens a lesson at the step where the learner left it, or at another step (from 0). If the file has
  /// errors, shows the errors and returns false.
  bool open(const QString& path, std::optional<std::size_t> step = std::nullopt);
  /// Ends the lesson, and stores the progress of the learner.
  void leave();
  LessonCourse* course() const { return m_course.get(); }  ///< nullptr: no lesson is open
  bool showsLessons() const;
  /// Returns from the list to the open lesson. Without an open lesson, shows the list.
  void showStep();

  void setInput(const ViewInput& input);
  void setTheme(const Theme& theme);
  void takeFocus();
  /// Shows only the step, in large type, for a projector.
  void setPresenting(bool isPresenting);
  /// Adapts the letters of a presented lesson to the height of the window.
  void fitText();
  /// Shows the number of the step that the presenter types; empty: shows the number of the current step.
  void showTyped(const QString& number);

  /// Scrolls down by almost the visible height. Returns false at the end of the step.
  bool readOn();
  /// Shows the question or the actions for which the step waits. Returns false if the step does not wait.
  bool showWaiting();
  /// The path of the bundled lesson after the open lesson; empty: there is none.
  QString nextLesson() const;
  /// The answers of the learner to the questions of the open lesson, for its file.
  lesson::LearnerAnswers answers() const;

  /// A link of the text, with its target.
  struct Pointed {
    lesson::Target target;
    std::vector<QRect> words;  ///< visible words of the link, a rectangle per line, in pixels of the reader
  };
  /// Returns the link under the mouse, or the link that the keyboard has reached. Nothing: there is none.
  std::optional<Pointed> pointed() const;

 Q_SIGNALS:
  void commandWanted(const QString& id);
  void savingWanted();    ///< the learner wants to save the answers
  void stepShown();       ///< another step, or more text of the step, is shown
  void pointedChanged();  ///< pointed() changed.
  /// The user follows a link to its target, which is selected already.
  void followed(const spanscope::lesson::Target& target);

 private:
  int larger() const;  ///< additional size of letters, in pixels
  void revealCard(const QWidget& card);
  void focusNext();
  void makePage();
  void refresh();
  void fillStep();
  void fillBlock(const lesson::FilledBlock& block, std::size_t index, QVBoxLayout& column);
  /// Adds one note for all claims that hold in the readable blocks of the step. No such claim: adds nothing.
  void fillChecked(const lesson::FilledStep& step, std::size_t readable, QVBoxLayout& column);
  void fillVerdicts(std::size_t block, QVBoxLayout& column);
  void fillTasks(QVBoxLayout& column);
  QString taskText(const lesson::Action& action) const;
  void fillQuestion(const lesson::FilledQuestion& question, const QuestionPlace& here, QVBoxLayout& column);
  void takeAnswer(const QuestionPlace& place, const LessonAnswer& answer);
  void refreshButtons();
  void follow(const QUrl& link);
  bool isDecided(const QuestionPlace& place) const;
  /// Whether the lesson still measures the answer.
  bool isMeasured(const lesson::FilledQuestion& question) const;
  void keepProgress();
  void showMore();  ///< shows or hides the button for more text.
  /// Returns blocks of the current step as text for screen readers.
  QString spokenText(std::size_t begin, std::size_t end) const;

  QSettings& m_settings;
  LessonStage& m_stage;
  Theme m_theme;
  ViewInput m_input;
  std::unique_ptr<LessonCourse> m_course;
  lesson::FilledLesson m_filled;
  QStackedWidget* m_pages = nullptr;
  LessonList* m_list = nullptr;
  QLabel* m_title = nullptr;
  QWidget* m_head = nullptr;
  QWidget* m_foot = nullptr;
  bool m_isPresenting = false;
  int m_larger = 0;  ///< larger() when the texts were made
  QComboBox* m_steps = nullptr;
  QScrollArea* m_area = nullptr;
  QPushButton* m_more = nullptr;  ///< below the area, while the area has more text below
  QPointer<LessonText> m_pointing;
  QLabel* m_free = nullptr;
  QWidget* m_freeBar = nullptr;
  QPushButton* m_return = nullptr;
  QPushButton* m_back = nullptr;
  QPushButton* m_next = nullptr;
  QLabel* m_count = nullptr;
  QToolButton* m_all = nullptr;
  QToolButton* m_close = nullptr;
  LessonQuestion* m_question = nullptr;           ///< the question that waits; nullptr: none
  QWidget* m_tasks = nullptr;                     ///< the actions for which the lesson waits; nullptr: none
  std::map<QuestionPlace, LessonAnswer> m_first;  ///< first answers that were not right, for a second try
  std::optional<QuestionPlace> m_changing;        ///< the question whose answer the learner changes
  EngineMark m_mark;                              ///< the mark of m_input
  Selection m_askedWith;  ///< the last selection; a later selection can fill the answer
  std::size_t m_shownStep = static_cast<std::size_t>(-1);
  std::size_t m_openedStep = 0;   ///< the first shown step, which has the note about hidden tabs
  std::size_t m_shownBlocks = 0;  ///< blocks of that step that are shown
};

}  // namespace spanscope::ui
