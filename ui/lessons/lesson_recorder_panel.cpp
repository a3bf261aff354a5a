// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_recorder_panel.h"

#include "engine/lesson/limits.h"
#include "engine/trace/figure_table.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/views/common/elided_combo.h"

#include <QAccessible>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr int kLeastPanel = 240;  // pixels

QToolButton* menuButton(const QString& text, const QString& tip) {
  auto* button = new QToolButton;
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(text);
  button->setAccessibleDescription(tip);
  button->setPopupMode(QToolButton::InstantPopup);
  button->setMenu(new QMenu(button));
  return button;
}

}  // namespace

LessonRecorderPanel::LessonRecorderPanel(LessonRecorder& recorder, QWidget* parent)
    : QFrame(parent), m_recorder(recorder) {
  setObjectName(QStringLiteral("lessonRecorder"));
  setAccessibleName(tr("Recording a lesson"));
  setMinimumWidth(kLeastPanel);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);

  auto* top = new QHBoxLayout;
  top->setContentsMargins(4 * kSpace, 2 * kSpace, 2 * kSpace, kSpace);
  m_head = new QLabel(tr("● Recording a lesson"));
  auto* away = new QToolButton;
  away->setText(QStringLiteral("✕"));
  away->setAutoRaise(true);
  away->setToolTip(tr("Throw the recording away"));
  away->setAccessibleName(tr("Throw the recording away"));
  connect(away, &QToolButton::clicked, this, &LessonRecorderPanel::throwAwayWanted);
  top->addWidget(m_head, 1);
  top->addWidget(away);
  column->addLayout(top);

  auto* area = new QScrollArea;
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);
  m_page = new QWidget;
  m_page->setObjectName(QStringLiteral("lessonPage"));
  auto* form = new QVBoxLayout(m_page);
  form->setContentsMargins(4 * kSpace, kSpace, 4 * kSpace, 3 * kSpace);
  form->setSpacing(kSpace);

  m_title = new QLineEdit;
  m_title->setPlaceholderText(tr("What the lesson is called"));
  m_title->setAccessibleName(tr("Title of the lesson"));
  form->addWidget(m_title);
  auto* second = new QHBoxLayout;
  m_after = new QLineEdit;
  m_after->setPlaceholderText(tr("After it one knows …"));
  m_after->setAccessibleName(tr("What one knows after it"));
  m_minutes = new QSpinBox;
  m_minutes->setRange(1, static_cast<int>(lesson::kMaxMinutes));
  m_minutes->setSuffix(tr(" min"));
  m_minutes->setAccessibleName(tr("Minutes that it takes"));
  second->addWidget(m_after, 1);
  second->addWidget(m_minutes);
  form->addLayout(second);
  form->addSpacing(2 * kSpace);

  auto* stepRow = new QHBoxLayout;
  m_steps = new ElidedCombo;
  m_steps->setAccessibleName(tr("Step"));
  m_steps->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_steps->setMinimumContentsLength(8);
  auto* another = new QPushButton(tr("New step"));
  another->setToolTip(tr("What you do from now on belongs to another step"));
  stepRow->addWidget(m_steps, 1);
  stepRow->addWidget(another);
  form->addLayout(stepRow);
  m_stepTitle = new QLineEdit;
  m_stepTitle->setPlaceholderText(tr("What the step is called"));
  m_stepTitle->setAccessibleName(tr("Title of the step"));
  form->addWidget(m_stepTitle);
  m_text = addText(tr("What the learner reads first"), tr("One thought"), 3);

  addLabel(tr("What you did"));
  m_actions = new QListWidget;
  m_actions->setAccessibleName(tr("What you did in this step"));
  m_actions->setMinimumHeight(90);
  m_actions->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_actions->setTextElideMode(Qt::ElideMiddle);
  form->addWidget(m_actions, 1);
  m_forget = new QPushButton(tr("Forget it"));
  m_forget->setToolTip(tr("Leaves out what only shows something"));
  auto* forgetRow = new QHBoxLayout;
  forgetRow->addWidget(m_forget);
  forgetRow->addStretch();
  form->addLayout(forgetRow);

  m_question = addText(tr("A question, asked before the run"), tr("None is asked"), 2);
  m_outcome = addText(tr("What came out, read after the run"), tr("What it means"), 3);
  auto* insert = new QHBoxLayout;
  QToolButton* ask = menuButton(tr("Question ▾"), tr("Ask for a figure of the run that comes"));
  QToolButton* figure =
      menuButton(tr("Figure ▾"), tr("Put a figure of the last run where you write; it is never typed"));
  connect(ask->menu(), &QMenu::aboutToShow, this, [this, ask] { fillFigures(*ask->menu(), true); });
  connect(figure->menu(), &QMenu::aboutToShow, this, [this, figure] { fillFigures(*figure->menu(), false); });
  insert->addWidget(ask);
  insert->addWidget(figure);
  insert->addStretch();
  form->addLayout(insert);
  area->setWidget(m_page);
  column->addWidget(area, 1);

  m_problem = new QLabel;
  m_problem->setObjectName(QStringLiteral("lessonRecorderProblem"));
  m_problem->setTextFormat(Qt::PlainText);
  m_problem->setWordWrap(true);
  m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_problem->hide();
  column->addWidget(m_problem);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(4 * kSpace, 2 * kSpace, 4 * kSpace, 2 * kSpace);
  auto* save = new QPushButton(tr("Stop and save…"));
  save->setObjectName(QStringLiteral("primary"));
  save->setToolTip(tr("Writes the lesson and its queries, and opens it in the reader"));
  foot->addStretch();
  foot->addWidget(save);
  column->addLayout(foot);

  connect(another, &QPushButton::clicked, this, [this] {
    keep();
    m_recorder.newStep();
    m_stepTitle->setFocus(Qt::OtherFocusReason);
  });
  connect(m_steps, &QComboBox::activated, this, [this](int index) {
    keep();
    m_recorder.goTo(static_cast<std::size_t>(index));
  });
  connect(m_forget, &QPushButton::clicked, this, [this] {
    if (m_actions->currentRow() >= 0) m_recorder.forget(static_cast<std::size_t>(m_actions->currentRow()));
  });
  const auto refreshForget = [this] {
    const int row = m_actions->currentRow();
    m_forget->setEnabled(row >= 0 && m_recorder.canForget(static_cast<std::size_t>(row)));
  };
  connect(m_actions, &QListWidget::currentRowChanged, this, refreshForget);
  for (QPlainTextEdit* text : {m_text, m_question, m_outcome}) {
    text->setTabChangesFocus(true);
    connect(text, &QPlainTextEdit::textChanged, this, &LessonRecorderPanel::keep);
    connect(text, &QPlainTextEdit::cursorPositionChanged, this, [this, text] {
      if (text->hasFocus() && text != m_question) m_figureGoes = text;
    });
  }
  for (QLineEdit* line : {m_title, m_after, m_stepTitle})
    connect(line, &QLineEdit::textChanged, this, &LessonRecorderPanel::keep);
  connect(m_minutes, &QSpinBox::valueChanged, this, &LessonRecorderPanel::keep);
  connect(save, &QPushButton::clicked, this, &LessonRecorderPanel::saveWanted);
  connect(&m_recorder, &LessonRecorder::changed, this, &LessonRecorderPanel::fill);
  fill();
}

QLabel* LessonRecorderPanel::addLabel(const QString& text) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  label->setProperty("isSmall", true);
  m_page->layout()->addWidget(label);
  return label;
}

QPlainTextEdit* LessonRecorderPanel::addText(const QString& label, const QString& hint, int lines) {
  QLabel* name = addLabel(label);
  auto* text = new QPlainTextEdit;
  text->setPlaceholderText(hint);
  text->setAccessibleName(label);
  text->setMinimumHeight(text->fontMetrics().lineSpacing() * lines + 16);
  text->setMaximumHeight(text->fontMetrics().lineSpacing() * (lines + 2) + 16);
  name->setBuddy(text);
  m_page->layout()->addWidget(text);
  return text;
}

void LessonRecorderPanel::setTheme(const Theme& theme) {
  m_theme = theme;
  setStyleSheet(
      QStringLiteral(
          "#lessonRecorder { background: %1; border: none; border-right: 1px solid %2; }"
          "#lessonPage { background: %1; }"
          "QPlainTextEdit, QListWidget { background: %3; border: 1px solid %4; border-radius: 4px; }"
          "QPlainTextEdit:focus, QListWidget:focus { border-color: %5; }"
          "#lessonRecorderProblem { color: %6; border-top: 1px solid %2; padding: 6px 16px; }")
          .arg(theme.color(Role::Surface).name(), theme.color(Role::Line).name(),
               theme.color(Role::Canvas).name(), theme.color(Role::Outline).name(),
               theme.color(Role::Accent).name(), theme.color(Role::Error).name()));
  m_head->setFont(theme.titleFont());
  m_head->setStyleSheet(QStringLiteral("color: %1;").arg(theme.color(Role::Error).name()));
  m_actions->setFont(theme.monoFont());
  m_problem->setFont(theme.smallFont());
  for (QLabel* label : m_page->findChildren<QLabel*>()) {
    if (!label->property("isSmall").toBool()) continue;
    label->setFont(theme.smallFont());
    label->setStyleSheet(QStringLiteral("color: %1;").arg(theme.color(Role::TextSecond).name()));
  }
}

void LessonRecorderPanel::fill() {
  m_isFilling = true;
  const std::size_t at = m_recorder.step();
  m_steps->clear();
  for (std::size_t i = 0; i < m_recorder.steps(); ++i) {
    const QString title = QString::fromStdString(m_recorder.at(i).title);
    m_steps->addItem(title.isEmpty() ? tr("Step %1").arg(i + 1) : tr("%1. %2").arg(i + 1).arg(title));
  }
  m_steps->setCurrentIndex(static_cast<int>(at));
  const lesson::RecordedStep& step = m_recorder.at(at);
  const auto show = [](QPlainTextEdit& edit, const std::string& text) {
    // Who writes keeps the cursor.
    if (edit.toPlainText().toStdString() != text) edit.setPlainText(QString::fromStdString(text));
  };
  if (m_stepTitle->text().toStdString() != step.title)
    m_stepTitle->setText(QString::fromStdString(step.title));
  show(*m_text, step.text);
  show(*m_question, step.question);
  show(*m_outcome, step.after);
  m_minutes->setValue(static_cast<int>(m_recorder.head.minutes));
  m_actions->clear();
  for (const lesson::Action& action : step.actions) {
    const QString line = QString::fromStdString(lesson::written(action));
    auto* item = new QListWidgetItem(line, m_actions);
    item->setToolTip(line);
  }
  m_actions->scrollToBottom();
  m_forget->setEnabled(false);
  m_isFilling = false;
  showProblem(m_recorder.unsaid());
}

void LessonRecorderPanel::keep() {
  if (m_isFilling) return;
  m_recorder.head.title = m_title->text().toStdString();
  m_recorder.head.after = m_after->text().toStdString();
  m_recorder.head.minutes = m_minutes->value();
  m_recorder.setTexts(m_stepTitle->text(), m_text->toPlainText(), m_question->toPlainText(),
                      m_outcome->toPlainText());
  const QString title = m_stepTitle->text();
  const std::size_t at = m_recorder.step();
  m_steps->setItemText(static_cast<int>(at),
                       title.isEmpty() ? tr("Step %1").arg(at + 1) : tr("%1. %2").arg(at + 1).arg(title));
}

void LessonRecorderPanel::fillFigures(QMenu& menu, bool isQuestion) {
  menu.clear();
  const std::uint32_t run = isQuestion ? m_recorder.runs() + 1 : m_recorder.runs();
  if (run == 0) {
    menu.addAction(tr("Run the query first"))->setEnabled(false);
    return;
  }
  for (const trace::Figure& figure : trace::figures()) {
    if (figure.ofRun == nullptr || (isQuestion && figure.unit == trace::FigureUnit::Text)) continue;
    const QString name = QString::fromUtf8(figure.name.data(), static_cast<qsizetype>(figure.name.size()));
    QAction* action = menu.addAction(tr("run %1: %2").arg(run).arg(name));
    action->setToolTip(QString::fromUtf8(figure.meaning));
    const bool isBlock = figure.unit == trace::FigureUnit::Place;
    connect(action, &QAction::triggered, this, [this, isQuestion, isBlock, text = action->text()] {
      if (!isQuestion) {
        QPlainTextEdit& edit = m_figureGoes != nullptr ? *m_figureGoes : *m_outcome;
        edit.insertPlainText(QLatin1Char('{') + text + QLatin1Char('}'));
        edit.setFocus(Qt::OtherFocusReason);
        return;
      }
      m_question->setPlainText(tr("What do you expect?") + QLatin1Char('\n') +
                               (isBlock ? QStringLiteral("block: ") : QStringLiteral("number: ")) + text);
      m_question->setFocus(Qt::OtherFocusReason);
      m_question->moveCursor(QTextCursor::Start);
      m_question->moveCursor(QTextCursor::EndOfLine, QTextCursor::KeepAnchor);
    });
  }
  menu.setToolTipsVisible(true);
}

void LessonRecorderPanel::showProblem(const QString& problem) {
  if (m_problem->text() == problem && m_problem->isVisibleTo(this) == !problem.isEmpty()) return;
  m_problem->setText(problem);
  m_problem->setVisible(!problem.isEmpty());
  if (problem.isEmpty()) return;
  QAccessibleEvent event(m_problem, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

void LessonRecorderPanel::takeFocus() {
  m_title->setFocus(Qt::OtherFocusReason);
}

}  // namespace spanscope::ui
