// SPDX-License-Identifier: GPL-3.0-or-later
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

/// A stretch of a lesson's Markdown, as high as it needs to be. Its links are told, not followed, and it
/// reads no file.
class LessonText : public QTextBrowser {
  Q_OBJECT
 public:
  explicit LessonText(QWidget* parent = nullptr);

  /// `larger`: so many pixels more than a page of the manual.
  void showPage(const QString& markdown, const Theme& theme, int larger = 0);

  QVariant loadResource(int type, const QUrl& name) override;
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;

  /// The link under the mouse, else the one that keys have reached; empty: none.
  QUrl pointedLink() const;
  /// Where its words are, a rectangle for each line, in pixels of this widget.
  std::vector<QRect> pointedWords() const;

 Q_SIGNALS:
  void pointedChanged();  ///< pointedLink()

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
  int m_at = 0;            ///< a character of the link's
  bool m_isByKey = false;  ///< it was reached by key
};

}  // namespace spanscope::ui
