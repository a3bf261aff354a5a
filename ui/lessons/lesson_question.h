// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lesson/filled.h"
#include "ui/lessons/lesson_answers.h"
#include "ui/lessons/lesson_course.h"

#include <QFrame>

#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace spanscope::ui {

class LessonText;

/// A question of a lesson: what is asked, where it is answered, and what came of it.
class LessonQuestion : public QFrame {
  Q_OBJECT
 public:
  LessonQuestion(const lesson::FilledQuestion& question, const LessonAnswer* answer, Verdict verdict,
                 const Theme& theme, int larger, QWidget* parent = nullptr);

  /// The block that is selected in the window, from 1; 0: none.
  void setBlock(std::size_t number);
  void takeFocus();

 Q_SIGNALS:
  void answered(const spanscope::ui::LessonAnswer& answer);
  void linkActivated(const QUrl& link);

 private:
  void refresh();
  LessonAnswer given() const;

  lesson::Question::Kind m_kind;
  std::vector<QRadioButton*> m_choices;
  QLineEdit* m_number = nullptr;  ///< nullptr: a choice, or it was answered
  QPushButton* m_answer = nullptr;
};

}  // namespace spanscope::ui
