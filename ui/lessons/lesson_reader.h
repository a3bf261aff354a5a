// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lesson/filled.h"
#include "ui/lessons/lesson_course.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QPointer>
#include <QRect>

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

/// The panel beside the views in which lessons are read: the list of them, or one step of one.
class LessonReader : public QFrame {
  Q_OBJECT
 public:
  /// `settings` keeps how far a learner has come, and must outlive the reader; so must the stage.
  LessonReader(QSettings& settings, LessonStage& stage, QWidget* parent = nullptr);
  ~LessonReader() override;

  /// Shows the lessons that there are; one that is open stays open.
  void showLessons();
  /// Opens a lesson where the learner left it, or at another step (from 0). Returns whether it is open; what
  /// is wrong with the file is shown.
  bool open(const QString& path, std::optional<std::size_t> step = std::nullopt);
  /// Ends the lesson, and keeps how far the learner came.
  void leave();
  LessonCourse* course() const { return m_course.get(); }  ///< nullptr: no lesson is open
  bool showsLessons() const;
  /// From the list back to the lesson that is open.
  void showStep();

  void setInput(const ViewInput& input);
  void setTheme(const Theme& theme);
  void takeFocus();
  /// For a projector: large type, and nothing but the step.
  void setPresenting(bool isPresenting);

  /// Scrolls on by what is in sight. Returns false where the end is.
  bool readOn();

  /// A word of the text that points at something.
  struct Pointed {
    lesson::Target target;
    std::vector<QRect> words;  ///< what is in sight of it, in pixels of the reader; a rectangle for each line
  };
  /// The word under the mouse, or the one that keys have reached; nothing: none.
  std::optional<Pointed> pointed() const;

 Q_SIGNALS:
  void commandWanted(const QString& id);
  void stepShown();       ///< another step, or more of it
  void pointedChanged();  ///< pointed()
  /// The person follows a word to what it points at, which is selected already.
  void followed(const spanscope::lesson::Target& target);

 private:
  int larger() const;  ///< pixels that letters are larger
  void makePage();
  void refresh();
  void fillStep();
  void fillBlock(const lesson::FilledBlock& block, std::size_t index, QVBoxLayout& column);
  void fillVerdicts(std::size_t block, QVBoxLayout& column);
  void refreshButtons();
  void follow(const QUrl& link);
  bool isDecided(const QuestionPlace& place) const;
  void keepProgress();
  void showMore();  ///< or that there is none
  /// Blocks of the step in view as they are said to who hears the window.
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
  QComboBox* m_steps = nullptr;
  QScrollArea* m_area = nullptr;
  QPushButton* m_more = nullptr;  ///< below the area, while there is more of it
  QPointer<LessonText> m_pointing;
  QLabel* m_free = nullptr;
  QWidget* m_freeBar = nullptr;
  QPushButton* m_return = nullptr;
  QPushButton* m_back = nullptr;
  QPushButton* m_next = nullptr;
  QLabel* m_count = nullptr;
  QToolButton* m_all = nullptr;
  QToolButton* m_close = nullptr;
  LessonQuestion* m_question = nullptr;  ///< that waits; nullptr: none
  EngineMark m_mark;                     ///< of the input
  Selection m_askedWith;  ///< when the question was asked, or when it was answered by selecting
  std::size_t m_shownStep = static_cast<std::size_t>(-1);
  std::size_t m_shownBlocks = 0;  ///< of it
};

}  // namespace spanscope::ui
