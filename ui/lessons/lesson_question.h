// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/lesson/filled.h"
#include "ui/lessons/lesson_course.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QString>

#include <cstdint>
#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace spanscope::ui {

// What runs say of a learner's answers, and the texts of a lesson with the figures in them.

enum class AnswerVerdict : std::uint8_t {
  Unknown,  ///< the run that decides was made, and says nothing
  Open,     ///< the run that decides was not made yet, or says nothing
  Right,
  Close,  ///< a number within a tenth
  Wrong,
  None,  ///< the question was passed over
};

/// `decided`: whether the run that answers has been made.
AnswerVerdict judge(const lesson::FilledQuestion& question, const LessonAnswer& answer, bool decided);
/// "✓ Right: 70." – a sign and a sentence.
QString verdictText(const lesson::FilledQuestion& question, const LessonAnswer& answer,
                    AnswerVerdict verdict);
/// Whether a text can be a number that answers a question.
bool isNumber(const QString& text);

/// Markdown in which what figures say is plain text, whatever characters it has.
QString markdownOf(const lesson::FilledProse& prose);
/// The same without marks, for people who hear it.
QString plainText(const QString& markdown);

class LessonText;

/// A question of a lesson: what is asked, where it is answered, and what came of it.
class LessonQuestion : public QFrame {
  Q_OBJECT
 public:
  LessonQuestion(const lesson::FilledQuestion& question, const LessonAnswer* answer, AnswerVerdict verdict,
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
