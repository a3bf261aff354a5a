// SPDX-License-Identifier: GPL-3.0-or-later
// The panel in which the user records a lesson.
#pragma once

#include "engine/lesson/recording.h"
#include "ui/theme/theme.h"

#include <QFrame>
#include <QPointer>
#include <QString>

#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QMenu;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace spanscope::ui {

class LessonRecorder;

/// The panel next to the views during a recording. The panel shows the steps with their actions. The user
/// writes texts, questions, links and claims for each step.
class LessonRecorderPanel : public QFrame {
  Q_OBJECT
 public:
  /// `recorder` must outlive the panel.
  explicit LessonRecorderPanel(LessonRecorder& recorder, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  /// Shows an error of the lesson, or an action that was not recorded. Empty: shows nothing.
  void showProblem(const QString& problem);
  void takeFocus();
  /// Blocks saving and new steps while the runs of a recovered recording are repeated. `doing` is a text for
  /// the user. Empty: the runs have ended.
  void showBusy(const QString& doing);

 Q_SIGNALS:
  void saveWanted();
  void throwAwayWanted();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// The fields of one choice.
  struct ChoiceRow {
    QWidget* row = nullptr;
    QLineEdit* text = nullptr;
    QLineEdit* isRight = nullptr;
    QLabel* says = nullptr;
  };

  void addTop(QVBoxLayout& column);
  void addHead(QVBoxLayout& form);
  void addDone(QVBoxLayout& form);
  void addQuestion(QVBoxLayout& form);
  void addOutcome(QVBoxLayout& form);
  void addFoot(QVBoxLayout& column);
  QPlainTextEdit* addText(const QString& label, const QString& hint, int lines);
  QLabel* addLabel(const QString& text);
  QLabel* addSaying(const QString& name);
  ChoiceRow& addChoice();
  void fill();
  void fillQuestion(const lesson::RecordedQuestion& question);
  void showKind();
  void keep();
  lesson::RecordedQuestion question() const;
  /// Shows the errors of expressions, and their current values.
  void sayValues();
  QString said(const QString& comparison) const;
  enum class Into { Text, Answer, Claim };
  void pickMetric(Into into, QLineEdit* line = nullptr);
  void fillLinks(QMenu& menu);
  void link(const QString& address, const QString& name);
  QPlainTextEdit& written() const;  ///< the text field that the user edited last

  LessonRecorder& m_recorder;
  Theme m_theme;
  QWidget* m_page = nullptr;
  QLabel* m_head = nullptr;
  QLineEdit* m_title = nullptr;
  QSpinBox* m_minutes = nullptr;
  QLineEdit* m_after = nullptr;
  QComboBox* m_steps = nullptr;
  QPushButton* m_another = nullptr;
  QLineEdit* m_stepTitle = nullptr;
  QPlainTextEdit* m_text = nullptr;
  QListWidget* m_actions = nullptr;
  QPushButton* m_forget = nullptr;
  QPushButton* m_remove = nullptr;
  QComboBox* m_kind = nullptr;
  QPlainTextEdit* m_question = nullptr;
  QWidget* m_answerRow = nullptr;
  QLineEdit* m_answer = nullptr;
  QWidget* m_choiceBox = nullptr;
  std::vector<ChoiceRow> m_choices;  ///< the max number of choices; unused ones are hidden
  QPushButton* m_addChoice = nullptr;
  QLabel* m_answerSays = nullptr;
  QPlainTextEdit* m_outcome = nullptr;
  QPlainTextEdit* m_holds = nullptr;
  QLabel* m_holdsSays = nullptr;
  QPointer<QPlainTextEdit> m_writtenInto;  ///< the field that gets a metric or a link
  QLabel* m_problem = nullptr;
  QPushButton* m_save = nullptr;
  bool m_isFilling = false;
};

}  // namespace spanscope::ui
