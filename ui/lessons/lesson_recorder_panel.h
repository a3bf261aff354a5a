// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QFrame>
#include <QPointer>
#include <QString>

class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QMenu;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;
class QToolButton;

namespace spanscope::ui {

class LessonRecorder;

/// The panel beside the views while a lesson is recorded: its steps with what was done in them, and the texts
/// and questions that a person writes to them.
class LessonRecorderPanel : public QFrame {
  Q_OBJECT
 public:
  /// `recorder` must outlive the panel.
  explicit LessonRecorderPanel(LessonRecorder& recorder, QWidget* parent = nullptr);

  void setTheme(const Theme& theme);
  /// What is wrong with the lesson, or was not recorded; empty: nothing.
  void showProblem(const QString& problem);
  void takeFocus();

 Q_SIGNALS:
  void saveWanted();
  void throwAwayWanted();

 private:
  QPlainTextEdit* addText(const QString& label, const QString& hint, int lines);
  QLabel* addLabel(const QString& text);
  void fill();
  void keep();
  void fillFigures(QMenu& menu, bool isQuestion);

  LessonRecorder& m_recorder;
  Theme m_theme;
  QWidget* m_page = nullptr;
  QLabel* m_head = nullptr;
  QLineEdit* m_title = nullptr;
  QSpinBox* m_minutes = nullptr;
  QLineEdit* m_after = nullptr;
  QComboBox* m_steps = nullptr;
  QLineEdit* m_stepTitle = nullptr;
  QPlainTextEdit* m_text = nullptr;
  QListWidget* m_actions = nullptr;
  QPushButton* m_forget = nullptr;
  QPlainTextEdit* m_question = nullptr;
  QPlainTextEdit* m_outcome = nullptr;
  QPointer<QPlainTextEdit> m_figureGoes;  ///< into which a figure is put
  QLabel* m_problem = nullptr;
  bool m_isFilling = false;
};

}  // namespace spanscope::ui
