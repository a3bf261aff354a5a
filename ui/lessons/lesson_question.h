// SPDX-License-Identifier: GPL-3.0-or-later
// The questions and texts of a lesson on the page: widgets for both, and the verdict on an answer.
#pragma once

#include "engine/lesson/filled.h"
#include "ui/lessons/lesson_course.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QString>
#include <QTextBrowser>
#include <QUrl>

#include <cstdint>
#include <vector>

class QLabel;
class QLineEdit;
class QPushButton;
class QRadioButton;

namespace spanscope::ui {

enum class AnswerVerdict : std::uint8_t {
  Unknown,  ///< the deciding run has ended, but has no value
  Open,     ///< the deciding run has not ended
  Right,
  Close,  ///< the number differs by at most a tenth of the right value
  Wrong,
  None,  ///< the learner skipped the question
};

/// Compares an answer with the right one. `decided`: the deciding run has ended.
AnswerVerdict judge(const lesson::FilledQuestion& question, const LessonAnswer& answer, bool decided);
/// Returns a sign and a text: "✓ Right: 70".
QString verdictText(const lesson::FilledQuestion& question, const LessonAnswer& answer,
                    AnswerVerdict verdict);
/// Whether a text can be a number that answers a question.
bool isNumber(const QString& text);

/// Returns Markdown. Characters in values of metrics have no effect as marks.
QString markdownOf(const lesson::FilledProse& prose);
/// Returns the text without marks, for screen readers.
QString plainText(const QString& markdown);

class LessonText;

/// The progress of the learner with a question.
struct QuestionState {
  const LessonAnswer* answer = nullptr;  ///< nullptr: the fields for an answer are shown
  AnswerVerdict verdict = AnswerVerdict::Open;
  QString note{};          ///< above the fields, such as why the learner answers again; may be empty
  bool mayChange = false;  ///< the answer can be changed
};

/// Shows a question of a lesson with the fields for the answer. After the answer, shows the answer, its
/// verdict and its reason.
class LessonQuestion : public QFrame {
  Q_OBJECT
 public:
  LessonQuestion(const lesson::FilledQuestion& question, const QuestionState& state, const Theme& theme,
                 int larger, QWidget* parent = nullptr);

  /// Writes the number of the block that is selected in the window into the field, from 0.
  void setBlock(std::size_t number);
  void takeFocus();
  /// Shows that the question waits for an answer.
  void remind();

 Q_SIGNALS:
  void changeWanted();  ///< the learner wants to change the answer
  void answered(const spanscope::ui::LessonAnswer& answer);
  void linkActivated(const QUrl& link);

 private:
  void refresh();
  LessonAnswer given() const;

  lesson::Question::Kind m_kind;
  std::vector<QRadioButton*> m_choices;
  QLineEdit* m_number = nullptr;  ///< nullptr: the question has choices, or it was answered
  QPushButton* m_answer = nullptr;
  QLabel* m_reminder = nullptr;  ///< hidden until remind()
};

/// Shows some Markdown of a lesson, in its full height. The widget reports clicks on links, but does not
/// follow the links. The widget reads no file.
class LessonText : public QTextBrowser {
  Q_OBJECT
 public:
  explicit LessonText(QWidget* parent = nullptr);

  /// Letters are `larger` pixels larger than on a page of the manual.
  void showPage(const QString& markdown, const Theme& theme, int larger = 0);

  QVariant loadResource(int type, const QUrl& name) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

  /// Returns the link under the mouse, else the link that the keyboard has reached. Empty: there is none.
  QUrl pointedLink() const;
  /// Returns the areas of the words of pointedLink(), a rectangle per line, in pixels of this widget.
  std::vector<QRect> pointedWords() const;

 Q_SIGNALS:
  void pointedChanged();  ///< pointedLink() changed

 protected:
  bool focusNextPrevChild(bool next) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  void point(const QUrl& link, int at);

  QUrl m_link;
  int m_at = 0;            ///< the position of a character of the link
  bool m_isByKey = false;  ///< the keyboard reached the link
};

}  // namespace spanscope::ui
