// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lessons/lesson_reader.h"

#include "engine/base/error.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_question.h"
#include "ui/views/common/elided_text.h"

#include <QAccessible>
#include <QApplication>
#include <QDesktopServices>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QStackedWidget>
#include <QTimer>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr int kLeastWidth = 240;      // pixels, if the docks need the space
constexpr int kLarger = 8;            // max additional pixels of letters, for a projector
constexpr int kLeastLarger = 3;       // min additional pixels of letters, for a projector
constexpr int kHeightPerPixel = 110;  // height of the window for each additional pixel of letters
constexpr int kMostPresented = 900;   // max width of the text, pixels

/// Makes a framed text for a running job, an error, a false claim or an answer. Letters are `larger` pixels
/// larger than usual.
QLabel* noteLabel(const QString& text, const Theme& theme, Role edge, int larger) {
  auto* label = new QLabel(text);
  label->setObjectName(QStringLiteral("lessonNote"));
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  QFont font = theme.interfaceFont();
  font.setPixelSize(font.pixelSize() + larger);
  label->setFont(font);
  label->setStyleSheet(QStringLiteral("#lessonNote { color: %1; background: %2; border: 1px solid %3; "
                                      "border-left: 3px solid %4; border-radius: 6px; padding: 8px; }")
                           .arg(theme.color(Role::Text).name(), theme.color(Role::Canvas).name(),
                                theme.color(Role::Line).name(), theme.color(edge).name()));
  return label;
}

QString claimText(const lesson::FilledClaim& claim) {
  const QString written = QString::fromStdString(claim.written);
  if (!claim.holds) return LessonReader::tr("– %1: %2").arg(written, QString::fromStdString(claim.missing));
  const QString values = QStringLiteral("%1, %2").arg(QString::fromStdString(claim.left).simplified(),
                                                      QString::fromStdString(claim.right).simplified());
  return (*claim.holds ? LessonReader::tr("✓ %1 (%2)") : LessonReader::tr("✗ %1 (%2)")).arg(written, values);
}

}  // namespace

LessonReader::LessonReader(QSettings& settings, LessonStage& stage, QWidget* parent)
    : QFrame(parent), m_settings(settings), m_stage(stage) {
  setObjectName(QStringLiteral("lessonReader"));
  setAccessibleName(tr("Lesson"));
  setMinimumWidth(kLeastWidth);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);

  m_head = new QWidget;
  auto* head = new QHBoxLayout(m_head);
  head->setContentsMargins(4 * kSpace, 2 * kSpace, 2 * kSpace, kSpace);
  head->setSpacing(kSpace);
  m_title = new QLabel(tr("Lessons"));
  m_title->setTextFormat(Qt::PlainText);
  m_title->setWordWrap(true);
  m_all = new QToolButton;
  m_all->setText(tr("All"));
  m_all->setAutoRaise(true);
  m_all->setToolTip(tr("Switch between the list of lessons and the open lesson"));
  m_all->setAccessibleName(tr("All lessons"));
  m_close = new QToolButton;
  m_close->setText(QStringLiteral("✕"));
  m_close->setAutoRaise(true);
  m_close->setToolTip(tr("Leave the lesson, keep your progress, and return to your tabs"));
  m_close->setAccessibleName(tr("Leave the lesson"));
  connect(m_all, &QToolButton::clicked, this, [this] {
    if (showsLessons() && m_course)
      showStep();
    else
      showLessons();
  });
  connect(m_close, &QToolButton::clicked, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("learn.leave")); });
  head->addWidget(m_title, 1);
  head->addWidget(m_all, 0, Qt::AlignTop);
  head->addWidget(m_close, 0, Qt::AlignTop);
  column->addWidget(m_head);

  m_pages = new QStackedWidget;
  m_list = new LessonList;
  connect(m_list, &LessonList::lessonWanted, this, [this](const QString& path) { open(path); });
  connect(m_list, &LessonList::listWanted, this, &LessonReader::showLessons);
  connect(m_list, &LessonList::fileWanted, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("learn.open-file")); });
  m_pages->addWidget(m_list);
  makePage();
  column->addWidget(m_pages, 1);
}

LessonReader::~LessonReader() = default;

void LessonReader::makePage() {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);

  m_steps = new ElidedCombo;
  m_steps->setAccessibleName(tr("Step"));
  m_steps->setToolTip(tr("Go to a step and run the steps before it"));
  m_steps->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_steps->setMinimumContentsLength(12);
  connect(m_steps, &QComboBox::activated, this, [this](int index) {
    if (m_course) m_course->goTo(static_cast<std::size_t>(index));
    refreshButtons();
  });
  auto* chooser = new QHBoxLayout;
  chooser->setContentsMargins(4 * kSpace, 0, 4 * kSpace, 2 * kSpace);
  chooser->addWidget(m_steps, 1);
  column->addLayout(chooser);

  m_area = new QScrollArea;
  m_area->setObjectName(QStringLiteral("lessonArea"));
  m_area->setFrameShape(QFrame::NoFrame);
  m_area->setWidgetResizable(true);
  m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_area->setFocusPolicy(Qt::NoFocus);
  column->addWidget(m_area, 1);
  m_more = new QPushButton(tr("▾ Read on"));
  m_more->setObjectName(QStringLiteral("lessonMore"));
  m_more->setToolTip(tr("Scroll down to more text"));
  m_more->setFocusPolicy(Qt::NoFocus);
  m_more->hide();
  connect(m_more, &QPushButton::clicked, this, &LessonReader::readOn);
  column->addWidget(m_more);
  connect(m_area->verticalScrollBar(), &QScrollBar::valueChanged, this, &LessonReader::showMore);
  connect(m_area->verticalScrollBar(), &QScrollBar::rangeChanged, this, &LessonReader::showMore);

  m_freeBar = new QFrame;
  m_freeBar->setObjectName(QStringLiteral("lessonFree"));
  auto* free = new QHBoxLayout(m_freeBar);
  free->setContentsMargins(4 * kSpace, kSpace, 4 * kSpace, kSpace);
  m_free = new QLabel(tr("You left the steps of the lesson."));
  m_free->setWordWrap(true);
  m_return = new QPushButton(tr(/*id:back-to-the-step*/ "Back to the step"));
  connect(m_return, &QPushButton::clicked, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("learn.return")); });
  free->addWidget(m_free, 1);
  free->addWidget(m_return);
  m_freeBar->hide();
  column->addWidget(m_freeBar);

  m_foot = new QWidget;
  auto* foot = new QHBoxLayout(m_foot);
  foot->setContentsMargins(4 * kSpace, 2 * kSpace, 4 * kSpace, 2 * kSpace);
  m_back = new QPushButton(tr("◂ Back"));
  m_back->setAccessibleName(tr("Back to the previous step"));
  m_count = new QLabel;
  m_count->setAlignment(Qt::AlignCenter);
  m_next = new QPushButton(tr("Next ▸"));
  m_next->setAccessibleName(tr("Next step"));
  m_next->setObjectName(QStringLiteral("primary"));
  connect(m_back, &QPushButton::clicked, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("learn.back")); });
  connect(m_next, &QPushButton::clicked, this,
          [this] { Q_EMIT commandWanted(QStringLiteral("learn.next")); });
  foot->addWidget(m_back);
  foot->addWidget(m_count, 1);
  foot->addWidget(m_next);
  column->addWidget(m_foot);
  m_pages->addWidget(page);
}

void LessonReader::showMore() {
  const QScrollBar& bar = *m_area->verticalScrollBar();
  constexpr int kNothing = 2 * kSpace;  // space below the last line
  m_more->setVisible(bar.maximum() - bar.value() > kNothing);
  if (m_pointing != nullptr) Q_EMIT pointedChanged();
}

bool LessonReader::readOn() {
  QScrollBar& bar = *m_area->verticalScrollBar();
  if (showsLessons() || m_more->isHidden()) return false;
  bar.setValue(bar.value() + bar.pageStep() - 8 * kSpace);
  return true;
}

std::optional<LessonReader::Pointed> LessonReader::pointed() const {
  if (m_pointing == nullptr || !m_course || showsLessons() || !isVisible()) return std::nullopt;
  std::optional<lesson::Target> target =
      lesson::readLinkTarget(m_pointing->pointedLink().toString().toStdString());
  if (!target) return std::nullopt;
  const QWidget& viewport = *m_area->viewport();
  const QRect seen(viewport.mapTo(this, QPoint()), viewport.size());
  Pointed found{.target = std::move(*target), .words = {}};
  for (const QRect& word : m_pointing->pointedWords()) {
    const QRect inReader(m_pointing->mapTo(this, word.topLeft()), word.size());
    if (const QRect inSight = inReader & seen; !inSight.isEmpty()) found.words.push_back(inSight);
  }
  return found;
}

bool LessonReader::showsLessons() const {
  return m_pages->currentIndex() == 0;
}

void LessonReader::showLessons() {
  m_list->showLessons(listedLessons(), m_settings, m_theme);
  m_pages->setCurrentIndex(0);
  refreshButtons();
}

void LessonReader::showStep() {
  if (!m_course) return showLessons();
  m_pages->setCurrentIndex(1);
  refreshButtons();
}

bool LessonReader::open(const QString& path, std::optional<std::size_t> step) {
  std::shared_ptr<const LessonFile> file;
  QStringList problems;
  try {
    file = openLesson(path);
    for (const query::Diagnostic& diagnostic : file->diagnostics) {
      if (diagnostic.severity == Severity::Error)
        problems.append(tr("Line %1, column %2: %3")
                            .arg(diagnostic.position.line)
                            .arg(diagnostic.position.column)
                            .arg(QString::fromStdString(diagnostic.message())));
    }
  } catch (const Failure& failure) {
    problems.append(QString::fromUtf8(failure.what()));
  }
  if (!problems.empty()) {
    m_list->showProblems(path, problems, m_theme);
    m_pages->setCurrentIndex(0);
    refreshButtons();
    return false;
  }
  const LessonProgress progress = lessonProgress(m_settings, file->key());
  const std::size_t kept = progress.isDone() ? 0 : progress.step;
  if (m_course) keepProgress();
  // The earlier course uses the stage that the new lesson clears.
  m_course.reset();
  m_question = nullptr;
  m_first.clear();
  m_changing.reset();
  m_tasks = nullptr;
  m_stage.begin();
  m_course = std::make_unique<LessonCourse>(std::move(file), m_stage);
  m_shownStep = static_cast<std::size_t>(-1);
  m_steps->clear();
  for (const lesson::Step& one : m_course->lesson().steps)
    m_steps->addItem(QStringLiteral("%1. %2").arg(one.number).arg(QString::fromStdString(one.title)));
  m_pages->setCurrentIndex(1);
  connect(m_course.get(), &LessonCourse::changed, this, &LessonReader::refresh);
  m_openedStep = step.value_or(kept);
  m_course->begin(m_openedStep);
  return true;
}

void LessonReader::leave() {
  if (m_course) keepProgress();
  m_course.reset();
  m_question = nullptr;
  m_tasks = nullptr;
  m_stage.end();
  showLessons();
}

void LessonReader::keepProgress() {
  const QString key = m_course->file().key();
  LessonProgress progress = lessonProgress(m_settings, key);
  progress.reached =
      std::max(progress.steps == m_course->steps() ? progress.reached : 0, m_course->reached());
  progress.step = m_course->step();
  progress.steps = m_course->steps();
  keepLessonProgress(m_settings, key, progress);
}

void LessonReader::setInput(const ViewInput& input) {
  // The window calls this function with every frame of a run. The document does not change during a run.
  const EngineMark mark = m_course ? m_stage.engineMark() : EngineMark();
  const bool isOther = input.document != m_input.document || input.keys != m_input.keys || mark != m_mark;
  m_mark = mark;
  m_input = input;
  if (!m_course) return;
  // A selection from before the question is not an answer.
  if (m_question != nullptr && input.selection != m_askedWith) {
    m_askedWith = input.selection;
    if (const std::optional<std::size_t> block = m_course->selectedBlock(input.selection))
      m_question->setBlock(*block);
  }
  if (!isOther) return;
  m_course->see();
  refreshButtons();
}

void LessonReader::setTheme(const Theme& theme) {
  m_theme = theme;
  setStyleSheet(QStringLiteral("#lessonReader { border: none; background: %1; border-right: 1px solid %2 }"
                               "#lessonMore { border: none; background: %1; border-top: 1px solid %2; "
                               "border-radius: 0; padding: 3px }"
                               "#lessonFree { border: none; background: %3; border-top: 1px solid %2 }")
                    .arg(theme.color(Role::Surface).name(), theme.color(Role::Line).name(),
                         theme.color(Role::AccentFill).name()));
  m_title->setFont(theme.titleFont());
  m_title->setStyleSheet(QStringLiteral("color: %1;").arg(theme.color(Role::TextSecond).name()));
  if (!m_isPresenting) m_count->setFont(theme.smallFont());
  m_count->setStyleSheet(QStringLiteral("color: %1;").arg(theme.color(Role::TextSecond).name()));
  if (m_course) fillStep();
  if (showsLessons()) showLessons();
}

void LessonReader::refresh() {
  m_filled = lesson::fill(m_course->lesson(), m_course->facts());
  keepProgress();
  fillStep();
  refreshButtons();
  // At the end of a run, the buttons can be used again.
  if (QApplication::focusWidget() == this) focusNext();
  Q_EMIT stepShown();
}

void LessonReader::fillStep() {
  const std::size_t at = m_course->step();
  if (m_filled.steps.size() <= at) return;
  const lesson::FilledStep& step = m_filled.steps[at];
  // Only a learner who has acted has read the text so far.
  const bool hasActed = m_question != nullptr || m_tasks != nullptr;
  m_question = nullptr;
  m_tasks = nullptr;
  const bool isNew = std::exchange(m_shownStep, at) != at;
  const int place = isNew ? 0 : m_area->verticalScrollBar()->value();
  auto* page = new QWidget;
  page->setObjectName(QStringLiteral("lessonPage"));
  page->setStyleSheet(
      QStringLiteral("#lessonPage { background: %1; }").arg(m_theme.color(Role::Surface).name()));
  // If the text has the whole screen, its max width keeps lines short enough to read.
  auto* body = new QWidget;
  auto* around = new QHBoxLayout(page);
  around->setContentsMargins(0, 0, 0, 0);
  around->addWidget(body);
  auto* column = new QVBoxLayout(body);
  const int beside = (m_isPresenting ? 8 : 4) * kSpace;
  column->setContentsMargins(beside, (m_isPresenting ? 6 : 2) * kSpace, beside, 4 * kSpace);
  body->setMaximumWidth(m_isPresenting ? kMostPresented : QWIDGETSIZE_MAX);
  column->setSpacing(3 * kSpace);
  auto* title = new QLabel(QString::fromStdString(step.title));
  title->setTextFormat(Qt::PlainText);
  title->setWordWrap(true);
  QFont font = m_theme.interfaceFont();
  font.setPixelSize(20 + larger());
  font.setWeight(QFont::DemiBold);
  title->setFont(font);
  title->setStyleSheet(QStringLiteral("color: %1;").arg(m_theme.color(Role::Text).name()));
  column->addWidget(title);
  if (const std::size_t hidden = m_stage.hiddenTabs(); hidden > 0 && at == m_openedStep) {
    column->addWidget(noteLabel(
        hidden == 1 ? tr(/*id:your-tab-is-hidden*/ "Your open tab is hidden until you leave the lesson.")
                    : tr("Your %1 open tabs are hidden until you leave the lesson.").arg(hidden),
        m_theme, Role::TextSecond, larger()));
  }
  const std::size_t readable = m_course->readable();
  QWidget* added = nullptr;
  std::size_t lastClaims = readable;
  for (std::size_t i = 0; i < readable; ++i) {
    if (std::holds_alternative<lesson::FilledClaims>(step.blocks[i])) lastClaims = i;
  }
  for (std::size_t i = 0; i < readable; ++i) {
    const int before = column->count();
    fillBlock(step.blocks[i], i, *column);
    if (i == lastClaims) fillChecked(step, readable, *column);
    if (!isNew && hasActed && added == nullptr && i >= m_shownBlocks && column->count() > before)
      added = column->itemAt(before)->widget();
  }
  fillTasks(*column);
  if (at + 1 == m_course->steps() && !answers().answers.empty()) {
    auto* save = new QPushButton(tr("Save my answers…"));
    save->setObjectName(QStringLiteral("lessonSaveAnswers"));
    save->setFlat(true);
    save->setToolTip(tr("Save your answers in a file, for a teacher"));
    connect(save, &QPushButton::clicked, this, &LessonReader::savingWanted);
    column->addWidget(save, 0, Qt::AlignLeft);
  }
  if (m_course->isBusy()) column->addWidget(noteLabel(tr("Running…"), m_theme, Role::Accent, larger()));
  if (!m_course->problem().isEmpty()) {
    column->addWidget(noteLabel(m_course->problem(), m_theme, Role::Error, larger()));
    auto* again = new QPushButton(tr("Try again"));
    connect(again, &QPushButton::clicked, this, [this] { m_course->goOn(); });
    column->addWidget(again, 0, Qt::AlignLeft);
  }
  column->addStretch();
  for (LessonText* text : page->findChildren<LessonText*>()) {
    connect(text, &LessonText::pointedChanged, this, [this, text] {
      if (!text->pointedLink().isEmpty())
        m_pointing = text;
      else if (m_pointing == text)
        m_pointing = nullptr;
      Q_EMIT pointedChanged();
    });
  }
  m_pointing = nullptr;
  // The new page replaces the control that has the focus.
  const QWidget* const focused = QApplication::focusWidget();
  const bool hadFocus =
      focused == this || (m_area->widget() != nullptr &&
                          (focused == m_area->widget() || m_area->widget()->isAncestorOf(focused)));
  if (hadFocus) setFocus(Qt::OtherFocusReason);
  m_area->setWidget(page);
  if (hadFocus) focusNext();
  m_area->verticalScrollBar()->setValue(place);
  if (added == nullptr && !isNew && hasActed && readable > m_shownBlocks) added = m_tasks;
  if (added != nullptr) QTimer::singleShot(0, added, [this, added] { revealCard(*added); });
  page->setAccessibleName(tr("Step %1: %2").arg(step.number).arg(QString::fromStdString(step.title)));
  // A screen reader reads the step, and later the blocks that a run has added.
  const std::size_t known = isNew ? 0 : std::min(m_shownBlocks, readable);
  if (isNew || readable > known || m_course->isBusy()) {
    page->setAccessibleDescription(spokenText(known, readable));
    QAccessibleEvent event(page, QAccessible::Alert);
    QAccessible::updateAccessibility(&event);
  }
  m_shownBlocks = readable;
  if (m_question != nullptr) {
    m_askedWith = m_stage.selection();
  }
}

/// Moves the focus to the control that the learner needs next. While the lesson runs something, the panel
/// itself keeps the focus.
void LessonReader::focusNext() {
  if (m_question != nullptr)
    m_question->takeFocus();
  else if (m_tasks != nullptr)
    m_tasks->setFocus(Qt::OtherFocusReason);
  else if (!m_course->isBusy())
    m_next->setFocus(Qt::OtherFocusReason);
}

/// Scrolls down until a card is visible, or its beginning if the card is too high.
void LessonReader::revealCard(const QWidget& card) {
  constexpr int kAround = 2 * kSpace;
  const QWidget* const page = m_area->widget();
  if (page == nullptr || !page->isAncestorOf(&card)) return;
  QScrollBar& bar = *m_area->verticalScrollBar();
  const int top = card.mapTo(page, QPoint()).y();
  const int most = top + card.height() - m_area->viewport()->height() + kAround;
  bar.setValue(std::max(bar.value(), std::min(top - kAround, most)));
}

QString LessonReader::spokenText(std::size_t begin, std::size_t end) const {
  QStringList texts;
  const std::vector<lesson::FilledBlock>& blocks = m_filled.steps[m_course->step()].blocks;
  for (std::size_t i = begin; i < end; ++i) {
    if (const auto* prose = std::get_if<lesson::FilledProse>(&blocks[i]))
      texts.append(plainText(markdownOf(*prose)));
    else if (const auto* question = std::get_if<lesson::FilledQuestion>(&blocks[i]))
      texts.append(tr("A question: %1").arg(plainText(markdownOf(question->text))));
  }
  if (m_course->isBusy()) texts.append(tr("Running…"));
  if (!m_course->problem().isEmpty()) texts.append(m_course->problem());
  return texts.join(QLatin1Char('\n'));
}

bool LessonReader::isDecided(const QuestionPlace& place) const {
  return m_course->decidedBy(place) <= m_course->facts().size();
}

void LessonReader::fillBlock(const lesson::FilledBlock& block, std::size_t index, QVBoxLayout& column) {
  const QuestionPlace here{m_course->step(), index};
  if (const auto* prose = std::get_if<lesson::FilledProse>(&block)) {
    if (prose->pieces.empty()) return;
    auto* text = new LessonText;
    text->showPage(markdownOf(*prose), m_theme, larger());
    connect(text, &QTextBrowser::anchorClicked, this, &LessonReader::follow);
    column.addWidget(text);
  } else if (const auto* question = std::get_if<lesson::FilledQuestion>(&block)) {
    fillQuestion(*question, here, column);
  } else if (const auto* claims = std::get_if<lesson::FilledClaims>(&block)) {
    // Only claims that do not hold get a note, because the text states the others.
    for (const lesson::FilledClaim& claim : *claims) {
      if (claim.holds.value_or(false)) continue;
      column.addWidget(
          noteLabel(tr("The text above is false for this model and machine:\n%1").arg(claimText(claim)),
                    m_theme, Role::Error, larger()));
    }
  } else {
    fillVerdicts(index, column);
  }
}

void LessonReader::fillChecked(const lesson::FilledStep& step, std::size_t readable, QVBoxLayout& column) {
  QStringList lines;
  for (std::size_t i = 0; i < readable; ++i) {
    const auto* claims = std::get_if<lesson::FilledClaims>(&step.blocks[i]);
    if (claims == nullptr) continue;
    for (const lesson::FilledClaim& claim : *claims)
      if (claim.holds.value_or(false)) lines.append(claimText(claim));
  }
  if (lines.isEmpty()) return;
  auto* label = new QLabel(tr(/*id:checked-on-this-run*/ "✓ checked on this run", nullptr));
  label->setFont(m_theme.smallFont());
  label->setStyleSheet(QStringLiteral("color: %1;").arg(m_theme.color(Role::TextSecond).name()));
  label->setToolTip(lines.join(QLatin1Char('\n')));
  label->setAccessibleDescription(lines.join(QLatin1Char('\n')));
  column.addWidget(label);
}

bool LessonReader::isMeasured(const lesson::FilledQuestion& question) const {
  return m_course->isBusy() && !question.missing.empty();
}

void LessonReader::fillQuestion(const lesson::FilledQuestion& question, const QuestionPlace& here,
                                QVBoxLayout& column) {
  const LessonAnswer* answer = m_course->answerTo(here);
  QuestionState state{.answer = m_changing == here ? nullptr : answer};
  state.mayChange = answer != nullptr && !isDecided(here);
  if (state.answer != nullptr)
    state.verdict = judge(question, *answer, isDecided(here) && !isMeasured(question));
  if (const auto first = m_first.find(here); state.answer == nullptr && first != m_first.end()) {
    const QString said = first->second.choice
                             ? QString::fromStdString(question.choices[*first->second.choice].text)
                             : first->second.number;
    state.note = judge(question, first->second, true) == AnswerVerdict::Close
                     ? tr("≈ %1 is close. Try again.").arg(said)
                     : tr("✗ %1 is not right. Try again.").arg(said);
  }
  auto* card = new LessonQuestion(question, state, m_theme, larger());
  connect(card, &LessonQuestion::linkActivated, this, &LessonReader::follow);
  // Both signals delete this card, so the calls are queued.
  connect(
      card, &LessonQuestion::changeWanted, this,
      [this, here] {
        m_changing = here;
        if (m_course) fillStep();
      },
      Qt::QueuedConnection);
  connect(
      card, &LessonQuestion::answered, this,
      [this, here](const LessonAnswer& said) {
        if (m_course) takeAnswer(here, said);
      },
      Qt::QueuedConnection);
  if (state.answer == nullptr) m_question = card;
  column.addWidget(card);
}

void LessonReader::takeAnswer(const QuestionPlace& place, const LessonAnswer& answer) {
  if (m_changing == place) {
    m_changing.reset();
    m_course->changeAnswer(place, answer);
    return;
  }
  // If the run has ended, the learner gets a second try before the right answer is shown.
  const auto& question = std::get<lesson::FilledQuestion>(m_filled.steps[place.step].blocks[place.block]);
  if (isDecided(place) && !m_first.contains(place)) {
    const AnswerVerdict verdict = judge(question, answer, true);
    if (verdict == AnswerVerdict::Close || verdict == AnswerVerdict::Wrong) {
      m_first[place] = answer;
      fillStep();
      m_question->takeFocus();
      return;
    }
  }
  m_course->answer(place, answer);
}

bool LessonReader::showWaiting() {
  if (!m_course || showsLessons()) return false;
  QWidget* const card = m_question != nullptr ? static_cast<QWidget*>(m_question) : m_tasks;
  if (card == nullptr || (m_question != nullptr && !m_course->waiting())) return false;
  revealCard(*card);
  if (m_question != nullptr)
    m_question->remind();
  else
    m_tasks->setFocus(Qt::OtherFocusReason);
  return true;
}

namespace {

/// Whether the two nodes of a swap are inputs of one node, directly one after the other.
bool areNeighbours(const lesson::Action& swap) {
  const auto* one = std::get_if<lesson::Target>(&swap.arguments[0].value);
  const auto* other = std::get_if<lesson::Target>(&swap.arguments[1].value);
  if (one == nullptr || other == nullptr) return false;
  const auto parts = [](const NodePath& path) {
    const std::size_t slash = path.rfind('/');
    return std::pair(path.substr(0, slash), QString::fromStdString(path.substr(slash + 1)).toInt());
  };
  const auto [oneParent, oneIndex] = parts(one->node);
  const auto [otherParent, otherIndex] = parts(other->node);
  return oneParent == otherParent && std::abs(oneIndex - otherIndex) == 1;
}

}  // namespace

QString LessonReader::taskText(const lesson::Action& action) const {
  const auto nodeText = [this, &action](std::size_t argument) {
    const auto* target = std::get_if<lesson::Target>(&action.arguments[argument].value);
    if (target == nullptr || m_course->document() == nullptr) return QString();
    return nodeWords(*m_course->document(), target->node);
  };
  switch (action.kind) {
    case lesson::ActionKind::Run:
      return tr("Run the query%1.").arg(m_input.keyHint(QStringLiteral("run.run")));
    case lesson::ActionKind::Swap:
      // A node that is dragged above a distant node pushes all nodes between them down.
      if (!areNeighbours(action))
        return tr("Swap “%1” and “%2”: hold the Alt key, and drag one node onto the other.")
            .arg(nodeText(0), nodeText(1));
      return tr("Swap “%1” and “%2”: drag one above the other, or select the lower node and move the node "
                "up%3.")
          .arg(nodeText(0), nodeText(1), m_input.keyHint(QStringLiteral("node.move-up")));
    case lesson::ActionKind::Edit:
      return tr("Change “%1” to: %2")
          .arg(nodeText(0), QString::fromStdString(std::get<std::string>(action.arguments[1].value)));
    default:
      return QString::fromStdString(lesson::written(action));
  }
}

/// Adds the actions for which the lesson waits, and a button that carries them out.
void LessonReader::fillTasks(QVBoxLayout& column) {
  const std::vector<LessonCourse::Task> tasks = m_course->tasks();
  if (tasks.empty()) return;
  auto* card = new QFrame;
  card->setObjectName(QStringLiteral("lessonTasks"));
  card->setFocusPolicy(Qt::StrongFocus);
  card->setStyleSheet(QStringLiteral("#lessonTasks { background: %1; border: 1px solid %2; "
                                     "border-left: 3px solid %3; border-radius: 6px; }"
                                     "#lessonTasks:focus { border-color: %3; }")
                          .arg(m_theme.color(Role::AccentFill).name(), m_theme.color(Role::Line).name(),
                               m_theme.color(Role::Accent).name()));
  auto* lines = new QVBoxLayout(card);
  lines->setContentsMargins(3 * kSpace, 2 * kSpace, 3 * kSpace, 3 * kSpace);
  lines->setSpacing(2 * kSpace);
  auto* head = new QLabel(tr("Your turn"));
  head->setFont(m_theme.smallFont());
  head->setStyleSheet(QStringLiteral("color: %1;").arg(m_theme.color(Role::TextSecond).name()));
  lines->addWidget(head);
  QStringList spoken;
  for (const LessonCourse::Task& task : tasks) {
    const QString text = (task.isDone ? QStringLiteral("✓ ") : QStringLiteral("→ ")) + taskText(*task.action);
    auto* label = new QLabel(text);
    label->setObjectName(QStringLiteral("lessonTask"));
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QFont font = m_theme.interfaceFont();
    font.setPixelSize(font.pixelSize() + 1 + larger());
    label->setFont(font);
    lines->addWidget(label);
    spoken.append(text);
  }
  card->setAccessibleName(tr("Your turn"));
  card->setAccessibleDescription(spoken.join(QLatin1Char('\n')));
  auto* help = new QPushButton(tr("Do it for me"));
  help->setObjectName(QStringLiteral("lessonHelp"));
  help->setFlat(true);
  help->setToolTip(tr("Let the lesson carry out these actions"));
  // The click deletes the button.
  connect(
      help, &QPushButton::clicked, this,
      [this] {
        if (m_course) m_course->doTasks();
      },
      Qt::QueuedConnection);
  lines->addWidget(help, 0, Qt::AlignLeft);
  column.addWidget(card);
  m_tasks = card;
}

lesson::LearnerAnswers LessonReader::answers() const {
  lesson::LearnerAnswers all;
  if (!m_course) return all;
  all.lesson = QFileInfo(m_course->file().path).fileName().toStdString();
  for (std::size_t step = 0; step < m_course->steps(); ++step) {
    const auto& blocks = m_course->lesson().steps[step].blocks;
    std::size_t number = 0;
    for (std::size_t block = 0; block < blocks.size(); ++block) {
      if (!std::holds_alternative<lesson::Question>(blocks[block])) continue;
      ++number;
      const QuestionPlace place{step, block};
      // The first answer counts, not the second try.
      const auto first = m_first.find(place);
      const LessonAnswer* answer = first != m_first.end() ? &first->second : m_course->answerTo(place);
      if (answer == nullptr || !answer->isGiven()) continue;
      all.answers.push_back({.step = step + 1,
                             .question = number,
                             .number = answer->number.toStdString(),
                             .choice = answer->choice});
    }
  }
  return all;
}

QString LessonReader::nextLesson() const {
  if (!m_course) return {};
  const std::vector<ListedLesson> lessons = listedLessons();
  const auto here = std::find_if(lessons.begin(), lessons.end(), [this](const ListedLesson& lesson) {
    return lesson.key == m_course->file().key();
  });
  return here == lessons.end() || here + 1 == lessons.end() ? QString() : (here + 1)->path;
}

/// Adds the verdicts on answers of earlier steps whose deciding run belongs to the actions in this block.
void LessonReader::fillVerdicts(std::size_t block, QVBoxLayout& column) {
  std::uint32_t runs = 0;
  std::uint32_t first = 0;
  for (std::size_t step = 0; step <= m_course->step(); ++step) {
    const auto& blocks = m_course->lesson().steps[step].blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const auto* list = std::get_if<lesson::ActionList>(&blocks[i]);
      if (list == nullptr) continue;
      if (step == m_course->step() && i > block) break;
      first = runs;
      for (const lesson::Action& action : list->actions)
        runs += action.kind == lesson::ActionKind::Run ? 1 : 0;
    }
  }
  for (std::size_t step = 0; step < m_course->step(); ++step) {
    for (std::size_t i = 0; i < m_filled.steps[step].blocks.size(); ++i) {
      const auto* question = std::get_if<lesson::FilledQuestion>(&m_filled.steps[step].blocks[i]);
      if (question == nullptr) continue;
      const QuestionPlace place{step, i};
      const std::uint32_t decides = m_course->decidedBy(place);
      const LessonAnswer* answer = m_course->answerTo(place);
      if (decides <= first || decides > runs || answer == nullptr || !answer->isGiven()) continue;
      const AnswerVerdict verdict = judge(*question, *answer, isDecided(place) && !isMeasured(*question));
      QString text = verdictText(*question, *answer, verdict);
      if (verdict != AnswerVerdict::Open && !question->why.pieces.empty())
        text += QLatin1Char('\n') + plainText(markdownOf(question->why));
      auto* label = noteLabel(text, m_theme, Role::Accent, larger());
      label->setObjectName(QStringLiteral("lessonVerdict"));
      label->setStyleSheet(label->styleSheet().replace(QStringLiteral("lessonNote"), label->objectName()));
      label->setAccessibleName(tr("What you expected"));
      label->setAccessibleDescription(label->text());
      column.addWidget(label);
    }
  }
}

void LessonReader::refreshButtons() {
  const bool isStep = m_course && !showsLessons();
  m_title->setText(m_course ? QString::fromStdString(m_course->lesson().head.title) : tr("Lessons"));
  m_all->setVisible(m_course != nullptr);
  m_all->setText(showsLessons() ? tr("Show lesson") : tr("All"));
  if (!isStep) return;
  m_steps->setCurrentIndex(static_cast<int>(m_course->step()));
  m_steps->setEnabled(!m_course->isBusy());
  m_count->setText(tr("%1 of %2").arg(m_course->step() + 1).arg(m_course->steps()));
  m_count->setAccessibleName(tr("Step %1 of %2").arg(m_course->step() + 1).arg(m_course->steps()));
  m_back->setEnabled(m_course->canGoBack());
  const bool isLast = m_course->step() + 1 == m_course->steps();
  const bool hasNext = isLast && !nextLesson().isEmpty();
  m_next->setText(hasNext ? tr("Next lesson ▸") : isLast ? tr("All lessons") : tr("Next ▸"));
  m_next->setAccessibleName(hasNext ? tr("Next lesson") : isLast ? tr("End: all lessons") : tr("Next step"));
  m_next->setEnabled(isLast ? !m_course->isBusy() : m_course->canGoOn());
  m_back->setToolTip(tr("Go to the previous step%1").arg(m_input.keyHint(QStringLiteral("learn.back"))));
  m_next->setToolTip(hasNext ? tr("Open the lesson after this one")
                     : isLast
                         ? tr("Show all lessons after this last step")
                         : tr("Go to the next step%1").arg(m_input.keyHint(QStringLiteral("learn.next"))));
  m_return->setToolTip(tr("Restore the query, runs and views of the step%1")
                           .arg(m_input.keyHint(QStringLiteral("learn.return"))));
  m_freeBar->setVisible(m_course->isPlaying(m_input.document.get()));
}

void LessonReader::follow(const QUrl& link) {
  const std::optional<lesson::Target> target = lesson::readLinkTarget(link.toString().toStdString());
  if (target && m_course) {
    m_course->point(*target);
    Q_EMIT followed(*target);
    return;
  }
  if (link.scheme() == QLatin1String("http") || link.scheme() == QLatin1String("https"))
    QDesktopServices::openUrl(link);
}

int LessonReader::larger() const {
  // On a low screen, large letters would leave room for a few words.
  return m_isPresenting ? std::clamp(window()->height() / kHeightPerPixel, kLeastLarger, kLarger) : 0;
}

void LessonReader::fitText() {
  if (larger() != m_larger) setPresenting(m_isPresenting);
}

void LessonReader::setPresenting(bool isPresenting) {
  m_isPresenting = isPresenting;
  m_larger = larger();
  m_head->setVisible(!isPresenting);
  // The list and the number of the step stay.
  m_back->setVisible(!isPresenting);
  m_next->setVisible(!isPresenting);
  QFont font = m_theme.interfaceFont();
  font.setPixelSize(font.pixelSize() + larger());
  m_steps->setFont(font);
  m_count->setFont(isPresenting ? font : m_theme.smallFont());
  showStep();
  if (m_course) fillStep();
}

void LessonReader::showTyped(const QString& number) {
  if (!m_course) return;
  m_count->setText(number.isEmpty() ? tr("%1 of %2").arg(m_course->step() + 1).arg(m_course->steps())
                                    : tr("Go to step %1: press Return").arg(number));
}

void LessonReader::takeFocus() {
  if (showsLessons())
    m_list->takeFocus();
  else if (m_question != nullptr)
    m_question->takeFocus();
  else
    m_next->setFocus(Qt::OtherFocusReason);
}

}  // namespace spanscope::ui
