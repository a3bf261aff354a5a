// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_recorder_panel.h"

#include "engine/base/problem_sentence.h"
#include "engine/lesson/lesson.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/lessons/metric_picker.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/text_tools.h"

#include <QAccessible>
#include <QEvent>
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
#include <QTextCursor>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

using lesson::Question;

constexpr int kLeastPanel = 240;  // pixels
constexpr int kMostActions = 110;

/// In the order of the list of kinds.
constexpr std::array<std::optional<Question::Kind>, 4> kKinds{std::nullopt, Question::Kind::Number,
                                                              Question::Kind::Choice, Question::Kind::Block};

QPushButton* smallButton(const QString& text, const QString& tip) {
  auto* button = new QPushButton(text);
  button->setToolTip(tip);
  button->setAccessibleDescription(tip);
  button->setAutoDefault(false);
  return button;
}

QString faultText(const lesson::Fault& fault) {
  return QString::fromStdString(problemSentence(fault.found, fault.expected));
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
  addTop(*column);
  auto* area = new QScrollArea;
  area->setObjectName(QStringLiteral("lessonRecorderArea"));
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);
  m_page = new QWidget;
  m_page->setObjectName(QStringLiteral("lessonPage"));
  auto* form = new QVBoxLayout(m_page);
  form->setContentsMargins(4 * kSpace, kSpace, 4 * kSpace, 3 * kSpace);
  form->setSpacing(kSpace);
  addHead(*form);
  addDone(*form);
  addQuestion(*form);
  addOutcome(*form);
  form->addStretch(1);
  area->setWidget(m_page);
  column->addWidget(area, 1);
  addFoot(*column);
  // The mouse wheel scrolls the panel and does not change these fields.
  for (QWidget* chooser : std::initializer_list<QWidget*>{m_minutes, m_steps, m_kind})
    ignoreWheelWithoutFocus(chooser);

  for (QPlainTextEdit* text : {m_text, m_question, m_outcome, m_holds}) {
    text->setTabChangesFocus(true);
    connect(text, &QPlainTextEdit::textChanged, this, [this, text] {
      if (!m_isFilling && text != m_holds) m_writtenInto = text;
      keep();
    });
    text->installEventFilter(this);
  }
  for (QLineEdit* line : {m_title, m_after, m_stepTitle, m_answer})
    connect(line, &QLineEdit::textChanged, this, &LessonRecorderPanel::keep);
  connect(m_minutes, &QSpinBox::valueChanged, this, &LessonRecorderPanel::keep);
  connect(&m_recorder, &LessonRecorder::changed, this, &LessonRecorderPanel::fill);
  fill();
}

/// Metrics and links go into the field that the user edited last.
bool LessonRecorderPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn && watched != m_holds)
    m_writtenInto = qobject_cast<QPlainTextEdit*>(watched);
  return QFrame::eventFilter(watched, event);
}

void LessonRecorderPanel::addTop(QVBoxLayout& column) {
  auto* top = new QHBoxLayout;
  top->setContentsMargins(4 * kSpace, 2 * kSpace, 2 * kSpace, kSpace);
  m_head = new QLabel(tr("● Recording a lesson"));
  auto* away = new QToolButton;
  away->setText(QStringLiteral("✕"));
  away->setAutoRaise(true);
  away->setFocusPolicy(Qt::TabFocus);
  away->setToolTip(tr(/*id:throw-recording-away*/ "Discard recording"));
  away->setAccessibleName(tr("Discard recording"));
  connect(away, &QToolButton::clicked, this, &LessonRecorderPanel::throwAwayWanted);
  top->addWidget(m_head, 1);
  top->addWidget(away);
  column.addLayout(top);
}

void LessonRecorderPanel::addHead(QVBoxLayout& form) {
  m_title = new QLineEdit;
  m_title->setPlaceholderText(tr("Title of the lesson"));
  m_title->setAccessibleName(tr(/*id:title-lesson*/ "Title of the lesson"));
  form.addWidget(m_title);
  auto* second = new QHBoxLayout;
  m_after = new QLineEdit;
  m_after->setPlaceholderText(tr("What it teaches"));
  m_after->setAccessibleName(tr("What the learner knows afterwards"));
  m_minutes = new QSpinBox;
  m_minutes->setRange(1, static_cast<int>(lesson::kMaxMinutes));
  m_minutes->setSuffix(tr(" min"));
  m_minutes->setAccessibleName(tr("Duration in minutes"));
  second->addWidget(m_after, 1);
  second->addWidget(m_minutes);
  form.addLayout(second);
  form.addSpacing(2 * kSpace);

  auto* stepRow = new QHBoxLayout;
  m_steps = new ElidedCombo;
  m_steps->setAccessibleName(tr("Step"));
  m_steps->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_steps->setMinimumContentsLength(8);
  m_another = smallButton(tr("New step"), tr("Start a new step with your next action"));
  stepRow->addWidget(m_steps, 1);
  stepRow->addWidget(m_another);
  form.addLayout(stepRow);
  m_stepTitle = new QLineEdit;
  m_stepTitle->setPlaceholderText(tr("Title of the step"));
  m_stepTitle->setAccessibleName(tr(/*id:title-step*/ "Title of the step"));
  form.addWidget(m_stepTitle);
  m_text = addText(tr(/*id:learner-reads-first*/ "What the learner reads first"), tr("One idea"), 3);
  connect(m_another, &QPushButton::clicked, this, [this] {
    keep();
    m_recorder.newStep();
    m_stepTitle->setFocus(Qt::OtherFocusReason);
  });
  connect(m_steps, &QComboBox::activated, this, [this](int index) {
    keep();
    m_recorder.goTo(static_cast<std::size_t>(index));
  });
}

void LessonRecorderPanel::addDone(QVBoxLayout& form) {
  addLabel(tr("What you did"));
  m_actions = new QListWidget;
  m_actions->setAccessibleName(tr("Your actions in this step"));
  m_actions->setMinimumHeight(70);
  m_actions->setMaximumHeight(kMostActions);
  m_actions->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_actions->setTextElideMode(Qt::ElideMiddle);
  form.addWidget(m_actions);
  m_forget = smallButton(tr("Forget action"), tr("Remove an action that only changes the view"));
  m_remove = smallButton(tr(/*id:remove-recorded-step*/ "Remove step"),
                         tr("Remove a step without runs and changes"));
  auto* row = new QHBoxLayout;
  row->addWidget(m_forget);
  row->addWidget(m_remove);
  row->addStretch();
  form.addLayout(row);
  connect(m_forget, &QPushButton::clicked, this, [this] {
    if (m_actions->currentRow() >= 0) m_recorder.forget(static_cast<std::size_t>(m_actions->currentRow()));
  });
  connect(m_remove, &QPushButton::clicked, this, [this] { m_recorder.removeStep(); });
  connect(m_actions, &QListWidget::currentRowChanged, this, [this](int current) {
    m_forget->setEnabled(current >= 0 && m_recorder.canForget(static_cast<std::size_t>(current)));
  });
}

void LessonRecorderPanel::addQuestion(QVBoxLayout& form) {
  addLabel(tr("Question before the run"));
  m_kind = new QComboBox;
  m_kind->setObjectName(QStringLiteral("questionKind"));
  m_kind->setAccessibleName(tr("Kind of question"));
  m_kind->addItems(
      {tr("No question"), tr("A number"), tr("One of several answers"), tr("A click on a block")});
  form.addWidget(m_kind);
  m_question = addText(QString(), tr("What do you expect?"), 2);
  m_question->setAccessibleName(tr("Question"));

  m_answerRow = new QWidget;
  auto* row = new QHBoxLayout(m_answerRow);
  row->setContentsMargins(0, 0, 0, 0);
  m_answer = new QLineEdit;
  m_answer->setObjectName(QStringLiteral("questionAnswer"));
  m_answer->setPlaceholderText(tr("the metric whose value is the answer"));
  m_answer->setAccessibleName(tr("Metric whose value is the answer"));
  auto* pick = smallButton(tr(/*id:choose-answer-metric*/ "Choose…"),
                           tr("Choose the metric whose value is the right answer"));
  row->addWidget(m_answer, 1);
  row->addWidget(pick);
  form.addWidget(m_answerRow);

  m_choiceBox = new QWidget;
  auto* column = new QVBoxLayout(m_choiceBox);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(kSpace);
  for (std::size_t i = 0; i < lesson::kMaxChoices; ++i) addChoice();
  m_addChoice = smallButton(tr("Add answer"), tr("Add an answer, up to six in total"));
  column->addWidget(m_addChoice, 0, Qt::AlignLeft);
  form.addWidget(m_choiceBox);
  m_answerSays = addSaying(tr(/*id:answers-question*/ "Form of the answer"));

  connect(m_kind, &QComboBox::activated, this, [this] {
    showKind();
    keep();
  });
  connect(pick, &QPushButton::clicked, this, [this] { pickMetric(Into::Answer, m_answer); });
  connect(m_addChoice, &QPushButton::clicked, this, [this] {
    for (ChoiceRow& choice : m_choices) {
      if (!choice.row->isHidden()) continue;
      choice.row->show();
      choice.text->setFocus(Qt::OtherFocusReason);
      break;
    }
    m_addChoice->setEnabled(m_choices.back().row->isHidden());
  });
}

LessonRecorderPanel::ChoiceRow& LessonRecorderPanel::addChoice() {
  ChoiceRow choice;
  choice.row = new QWidget;
  auto* column = new QVBoxLayout(choice.row);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  const int number = static_cast<int>(m_choices.size()) + 1;
  choice.text = new QLineEdit;
  choice.text->setObjectName(QStringLiteral("choiceText"));
  choice.text->setPlaceholderText(tr("Answer %1").arg(number));
  choice.text->setAccessibleName(tr("Answer %1").arg(number));
  auto* row = new QHBoxLayout;
  choice.says = new QLabel(QStringLiteral("?"));
  choice.says->setFixedWidth(choice.says->fontMetrics().horizontalAdvance(QStringLiteral("✓ ")));
  choice.isRight = new QLineEdit;
  choice.isRight->setObjectName(QStringLiteral("choiceIsRight"));
  choice.isRight->setPlaceholderText(tr("is right if …"));
  choice.isRight->setAccessibleName(tr(/*id:choice-is-right*/ "Answer %1 is right if").arg(number));
  auto* pick = smallButton(tr("Choose…"), tr("Choose the comparison that makes answer %1 right").arg(number));
  pick->setAccessibleName(tr("What makes answer %1 right").arg(number));
  row->addWidget(choice.says);
  row->addWidget(choice.isRight, 1);
  row->addWidget(pick);
  column->addWidget(choice.text);
  column->addLayout(row);
  m_choiceBox->layout()->addWidget(choice.row);
  for (QLineEdit* line : {choice.text, choice.isRight})
    connect(line, &QLineEdit::textChanged, this, &LessonRecorderPanel::keep);
  connect(pick, &QPushButton::clicked, this,
          [this, line = choice.isRight] { pickMetric(Into::Claim, line); });
  m_choices.push_back(choice);
  return m_choices.back();
}

void LessonRecorderPanel::addOutcome(QVBoxLayout& form) {
  m_outcome = addText(tr(/*id:came-out-read*/ "Result, shown after the run"), tr("What the result means"), 3);
  auto* row = new QHBoxLayout;
  auto* metric = smallButton(tr("Insert metric…"), tr("Insert a metric of the run into the text"));
  metric->setObjectName(QStringLiteral("putFigure"));
  auto* links = new QPushButton(tr("Link"));
  links->setObjectName(QStringLiteral("putLink"));
  links->setToolTip(tr("Link the selected words to the selection in the window, or to a dock"));
  links->setAccessibleDescription(links->toolTip());
  links->setMenu(new QMenu(links));
  connect(metric, &QPushButton::clicked, this, [this] { pickMetric(Into::Text); });
  connect(links->menu(), &QMenu::aboutToShow, this, [this, links] { fillLinks(*links->menu()); });
  row->addWidget(metric);
  row->addWidget(links);
  row->addStretch();
  form.addLayout(row);
  m_holds = addText(tr("What must be true, one comparison per line"), tr("e.g. run 1: cached tokens = 0"), 2);
  m_holds->setObjectName(QStringLiteral("holds"));
  auto* claim = smallButton(tr("Add statement…"), tr("Add a true statement about the run"));
  claim->setObjectName(QStringLiteral("putClaim"));
  connect(claim, &QPushButton::clicked, this, [this] { pickMetric(Into::Claim); });
  form.addWidget(claim, 0, Qt::AlignLeft);
  m_holdsSays = addSaying(tr("Result of statements"));
}

void LessonRecorderPanel::addFoot(QVBoxLayout& column) {
  m_problem = new QLabel;
  m_problem->setObjectName(QStringLiteral("lessonRecorderProblem"));
  m_problem->setTextFormat(Qt::PlainText);
  m_problem->setWordWrap(true);
  m_problem->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_problem->hide();
  column.addWidget(m_problem);
  auto* foot = new QHBoxLayout;
  foot->setContentsMargins(4 * kSpace, 2 * kSpace, 4 * kSpace, 2 * kSpace);
  m_save = new QPushButton(tr("Stop and save…"));
  m_save->setObjectName(QStringLiteral("primary"));
  m_save->setToolTip(tr("Write the lesson and its queries, and open the lesson"));
  foot->addStretch();
  foot->addWidget(m_save);
  column.addLayout(foot);
  connect(m_save, &QPushButton::clicked, this, &LessonRecorderPanel::saveWanted);
}

QLabel* LessonRecorderPanel::addLabel(const QString& text) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  label->setProperty("isSmall", true);
  m_page->layout()->addWidget(label);
  return label;
}

QLabel* LessonRecorderPanel::addSaying(const QString& name) {
  QLabel* label = addLabel({});
  label->setTextFormat(Qt::PlainText);
  label->setAccessibleName(name);
  label->hide();
  return label;
}

QPlainTextEdit* LessonRecorderPanel::addText(const QString& label, const QString& hint, int lines) {
  auto* text = new QPlainTextEdit;
  if (!label.isEmpty()) addLabel(label)->setBuddy(text);
  text->setPlaceholderText(hint);
  text->setAccessibleName(label);
  text->setMinimumHeight(text->fontMetrics().lineSpacing() * lines + 16);
  text->setMaximumHeight(text->fontMetrics().lineSpacing() * (lines + 2) + 16);
  m_page->layout()->addWidget(text);
  return text;
}

void LessonRecorderPanel::setTheme(const Theme& theme) {
  m_theme = theme;
  setStyleSheet(
      QStringLiteral(
          "#lessonRecorder { border: none; background: %1; border-right: 1px solid %2; }"
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
  m_holds->setFont(theme.monoFont());
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
  // A field with the same text keeps its cursor.
  const auto show = [](QPlainTextEdit& edit, const std::string& text) {
    if (edit.toPlainText().toStdString() != text) edit.setPlainText(QString::fromStdString(text));
  };
  const auto showLine = [](QLineEdit& edit, const std::string& text) {
    if (edit.text().toStdString() != text) edit.setText(QString::fromStdString(text));
  };
  showLine(*m_title, m_recorder.head().title);
  showLine(*m_after, m_recorder.head().after);
  m_minutes->setValue(static_cast<int>(m_recorder.head().minutes));
  showLine(*m_stepTitle, step.title);
  show(*m_text, step.text);
  show(*m_question, step.question.text);
  show(*m_outcome, step.after);
  show(*m_holds, step.holds);
  fillQuestion(step.question);
  m_actions->clear();
  for (std::size_t i = 0; i < step.actions.size(); ++i) {
    auto* item = new QListWidgetItem(m_recorder.wordsOf(i), m_actions);
    item->setToolTip(QString::fromStdString(lesson::written(step.actions[i])));
  }
  m_actions->scrollToBottom();
  m_forget->setEnabled(false);
  m_remove->setEnabled(m_recorder.canRemoveStep());
  m_isFilling = false;
  showProblem(m_recorder.unsaid());
  sayValues();
}

void LessonRecorderPanel::fillQuestion(const lesson::RecordedQuestion& question) {
  const auto kind = std::find(kKinds.begin(), kKinds.end(), question.kind);
  m_kind->setCurrentIndex(static_cast<int>(kind - kKinds.begin()));
  if (m_answer->text().toStdString() != question.answer)
    m_answer->setText(QString::fromStdString(question.answer));
  for (std::size_t i = 0; i < m_choices.size(); ++i) {
    const lesson::RecordedChoice choice =
        i < question.choices.size() ? question.choices[i] : lesson::RecordedChoice();
    if (m_choices[i].text->text().toStdString() != choice.text)
      m_choices[i].text->setText(QString::fromStdString(choice.text));
    if (m_choices[i].isRight->text().toStdString() != choice.isRight)
      m_choices[i].isRight->setText(QString::fromStdString(choice.isRight));
  }
  showKind();
}

void LessonRecorderPanel::showKind() {
  const std::optional<Question::Kind> kind = kKinds[static_cast<std::size_t>(m_kind->currentIndex())];
  m_question->setVisible(kind.has_value());
  m_answerRow->setVisible(kind && *kind != Question::Kind::Choice);
  m_choiceBox->setVisible(kind == Question::Kind::Choice);
  const std::size_t given = question().choices.size();
  for (std::size_t i = 0; i < m_choices.size(); ++i) {
    // At least two choices are shown. An empty choice that the user has added stays.
    const bool isAsked = !m_choices[i].row->isHidden() && m_choices[i].row->isAncestorOf(focusWidget());
    m_choices[i].row->setVisible(i < std::max<std::size_t>(2, given) || isAsked);
  }
  m_addChoice->setEnabled(m_choices.back().row->isHidden());
}

lesson::RecordedQuestion LessonRecorderPanel::question() const {
  lesson::RecordedQuestion question;
  question.kind = kKinds[static_cast<std::size_t>(m_kind->currentIndex())];
  question.text = m_question->toPlainText().toStdString();
  question.answer = m_answer->text().toStdString();
  for (const ChoiceRow& choice : m_choices)
    question.choices.push_back({choice.text->text().toStdString(), choice.isRight->text().toStdString()});
  while (!question.choices.empty() && question.choices.back() == lesson::RecordedChoice())
    question.choices.pop_back();
  return question;
}

void LessonRecorderPanel::keep() {
  if (m_isFilling) return;
  m_recorder.setHead(m_title->text(), m_minutes->value(), m_after->text());
  m_recorder.setTexts(m_stepTitle->text(), m_text->toPlainText(), m_outcome->toPlainText());
  m_recorder.setQuestion(question());
  m_recorder.setHolds(m_holds->toPlainText());
  const QString title = m_stepTitle->text();
  const std::size_t at = m_recorder.step();
  m_steps->setItemText(static_cast<int>(at),
                       title.isEmpty() ? tr("Step %1").arg(at + 1) : tr("%1. %2").arg(at + 1).arg(title));
  sayValues();
}

/// Returns the result of a comparison: "✓", "✗ 60 and 80", "? run 3 has not been run", or an error.
QString LessonRecorderPanel::said(const QString& comparison) const {
  std::vector<lesson::Fault> faults;
  const std::optional<lesson::Comparison> read = lesson::readComparison(comparison.toStdString(), 0, faults);
  if (!read) return faults.empty() ? QString() : faultText(faults.front());
  const lesson::FactsOf factsOf = m_recorder.factsOf();
  const auto holds = lesson::holds(*read, factsOf);
  if (const auto* missing = std::get_if<lesson::Missing>(&holds))
    return QStringLiteral("? ") + QString::fromStdString(missing->reason);
  if (std::get<bool>(holds)) return QStringLiteral("✓");
  const auto text = [&factsOf](const lesson::Expression& side) {
    const lesson::Evaluated value = lesson::evaluate(side, factsOf);
    return QString::fromStdString(lesson::textOf(side, std::get<metrics::Value>(value))).simplified();
  };
  return tr("✗ %1 and %2").arg(text(read->left), text(read->right));
}

void LessonRecorderPanel::sayValues() {
  const lesson::RecordedQuestion asked = question();
  QString answer;
  const lesson::FactsOf factsOf = m_recorder.factsOf();
  if (asked.kind == Question::Kind::Choice) {
    int right = 0;
    bool isKnown = !asked.choices.empty();
    for (std::size_t i = 0; i < m_choices.size(); ++i) {
      const QString comparison = m_choices[i].isRight->text();
      const QString verdict = comparison.trimmed().isEmpty() ? QStringLiteral("?") : said(comparison);
      const bool isRight = verdict == QStringLiteral("✓");
      const bool isWrong = verdict.startsWith(QStringLiteral("✗"));
      m_choices[i].says->setText(isRight ? verdict : isWrong ? QStringLiteral("·") : QStringLiteral("?"));
      m_choices[i].says->setToolTip(verdict);
      m_choices[i].isRight->setAccessibleDescription(verdict);
      if (i >= asked.choices.size()) continue;
      right += isRight ? 1 : 0;
      isKnown = isKnown && (isRight || isWrong);
      if (!isRight && !isWrong && answer.isEmpty() && verdict.size() > 1)
        answer = tr("Answer %1: %2").arg(i + 1).arg(verdict);
    }
    if (isKnown && right != 1)
      answer = tr("Exactly one answer must be right. Right answers now: %1.").arg(right);
  } else if (asked.kind && !asked.answer.empty()) {
    std::vector<lesson::Fault> faults;
    const std::optional<lesson::Expression> read = lesson::readExpression(asked.answer, 0, faults);
    if (!read) {
      answer = faults.empty() ? QString() : faultText(faults.front());
    } else {
      const lesson::Evaluated value = lesson::evaluate(*read, factsOf);
      const auto* const missing = std::get_if<lesson::Missing>(&value);
      answer = missing != nullptr ? tr("The next run will show the value.")
                                  : tr("Now: %1").arg(QString::fromStdString(
                                        lesson::textOf(*read, std::get<metrics::Value>(value))));
    }
  }
  m_answerSays->setText(answer);
  m_answerSays->setVisible(!answer.isEmpty());
  QStringList claims;
  for (const QString& line : m_holds->toPlainText().split(QLatin1Char('\n'))) {
    // A line with "where" names the model or run for which the other lines must hold.
    const QString bare = line.trimmed();
    if (bare.isEmpty()) continue;
    const QString words = QStringLiteral("where ");
    claims << said(bare.startsWith(words) ? bare.mid(words.size()) : bare);
  }
  QString holds;
  for (qsizetype i = 0; i < claims.size(); ++i) {
    if (claims[i] != QStringLiteral("✓")) holds += tr("Line %1: %2\n").arg(i + 1).arg(claims[i]);
  }
  if (!claims.isEmpty() && holds.isEmpty()) holds = tr("✓ True for the current runs");
  m_holdsSays->setText(holds.trimmed());
  m_holdsSays->setVisible(!claims.isEmpty());
}

QPlainTextEdit& LessonRecorderPanel::written() const {
  if (m_writtenInto == nullptr || m_writtenInto->isHidden()) return *m_outcome;
  return *m_writtenInto;
}

void LessonRecorderPanel::pickMetric(Into into, QLineEdit* line) {
  const std::uint32_t before = m_recorder.runsBefore();
  const std::uint32_t behind = before + m_recorder.runsInStep();
  MetricPicker::Choice choice;
  choice.factsOf = m_recorder.factsOf();
  choice.node = m_recorder.selectedNode();
  choice.nodeName = m_recorder.selectedNodeName();
  QPlainTextEdit* const text = &written();
  if (line != nullptr) {
    // A question is about the next run. If the step already has a run, the question is about that run.
    choice.runs = std::max(behind, before + 1);
    choice.run = before + 1;
  } else if (into == Into::Text && text != m_outcome) {
    choice.runs = choice.run = before;
  } else {
    choice.runs = choice.run = behind;
  }
  if (choice.runs == 0) {
    showProblem(into == Into::Text && text != m_outcome
                    ? tr("There is no run before this text. The lesson shows the result only after a run.")
                    : tr("Run the query first."));
    return;
  }
  choice.kind = into == Into::Claim  ? MetricPicker::Kind::Comparison
                : into == Into::Text ? MetricPicker::Kind::Any
                : kKinds[static_cast<std::size_t>(m_kind->currentIndex())] == Question::Kind::Block
                    ? MetricPicker::Kind::Block
                    : MetricPicker::Kind::Number;
  auto* picker = new MetricPicker(std::move(choice), m_theme, this);
  picker->setAttribute(Qt::WA_DeleteOnClose);
  connect(picker, &QDialog::accepted, this, [this, picker, into, line, text] {
    const QString chosen = picker->chosen();
    if (line != nullptr) {
      line->setText(chosen);
      line->setFocus(Qt::OtherFocusReason);
    } else if (into == Into::Text) {
      text->insertPlainText(QLatin1Char('{') + chosen + QLatin1Char('}'));
      text->setFocus(Qt::OtherFocusReason);
    } else {
      const QString old = m_holds->toPlainText();
      const bool isNewLine = old.isEmpty() || old.endsWith(QLatin1Char('\n'));
      m_holds->setPlainText(old + (isNewLine ? QString() : QStringLiteral("\n")) + chosen);
      m_holds->moveCursor(QTextCursor::End);
      m_holds->setFocus(Qt::OtherFocusReason);
    }
  });
  picker->open();
}

void LessonRecorderPanel::fillLinks(QMenu& menu) {
  menu.clear();
  const bool isBefore = &written() != m_outcome && m_recorder.runsBefore() == 0;
  const std::vector<LinkedPart> parts = m_recorder.selectedParts();
  for (const LinkedPart& part : parts) {
    QAction* action = menu.addAction(tr("To %1").arg(part.name));
    connect(action, &QAction::triggered, this, [this, part] { link(part.address, part.name); });
    // A text before the first run cannot link to its blocks.
    action->setEnabled(!isBefore || part.address.startsWith(QStringLiteral("node:")));
  }
  if (parts.empty()) {
    menu.addAction(tr("Select a node, a block or a token first"))->setEnabled(false);
  } else {
    menu.addSeparator();
    QAction* select = menu.addAction(tr("Select %1 in this step").arg(parts.front().name));
    connect(select, &QAction::triggered, this, [this] { m_recorder.noteSelection(); });
  }
  menu.addSeparator();
  QMenu* docks = menu.addMenu(tr("To a dock"));
  for (const std::string_view id : lesson::dockNames()) {
    const QString name = QString::fromUtf8(id.data(), static_cast<qsizetype>(id.size()));
    connect(docks->addAction(name), &QAction::triggered, this,
            [this, name] { link(QStringLiteral("dock:") + name, name); });
  }
}

/// Turns the selected words into a link. Without selected words, inserts the name. The cursor goes to the end
/// of the link.
void LessonRecorderPanel::link(const QString& address, const QString& name) {
  QPlainTextEdit& text = written();
  QTextCursor cursor = text.textCursor();
  // A link cannot contain the end of a paragraph.
  const QString marked = cursor.selectedText().replace(QChar::ParagraphSeparator, QLatin1Char(' '));
  cursor.insertText(QLatin1Char('[') + (marked.isEmpty() ? name : marked) + QStringLiteral("](") + address +
                    QLatin1Char(')'));
  text.setTextCursor(cursor);
  text.setFocus(Qt::OtherFocusReason);
}

void LessonRecorderPanel::showProblem(const QString& problem) {
  if (m_problem->text() == problem && m_problem->isVisibleTo(this) == !problem.isEmpty()) return;
  m_problem->setText(problem);
  m_problem->setVisible(!problem.isEmpty());
  if (problem.isEmpty()) return;
  QAccessibleEvent event(m_problem, QAccessible::Alert);
  QAccessible::updateAccessibility(&event);
}

void LessonRecorderPanel::showBusy(const QString& doing) {
  m_another->setEnabled(doing.isEmpty());
  m_save->setEnabled(doing.isEmpty());
  showProblem(doing);
}

void LessonRecorderPanel::takeFocus() {
  m_title->setFocus(Qt::OtherFocusReason);
}

}  // namespace spanscope::ui
