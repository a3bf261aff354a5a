// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/output/output_view.h"

#include "ui/views/common/breaking_label.h"
#include "ui/views/common/choices.h"
#include "ui/views/common/elided_text.h"
#include "ui/views/common/measure_page.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/common/table_view.h"
#include "ui/words/glossary.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <utility>

namespace spanscope::ui {

namespace {

constexpr int kLeastForRow = 240;  ///< pixels of a card whose headline has room beside its button

void setInk(QLabel& label, const QColor& ink, const QFont& font) {
  // Uses a style sheet, because the window's style sheet overrules palettes.
  const QString style = QStringLiteral("color: %1").arg(ink.name());
  if (label.styleSheet() != style) label.setStyleSheet(style);
  label.setFont(font);
}

void setTextIfNew(QLabel& label, const QString& text) {
  // Setting a label's text again would drop the user's selection in it.
  if (label.text() != text) label.setText(text);
  label.setVisible(!text.isEmpty());
}
void setTextIfNew(BreakingLabel& label, const QString& text) {
  label.setWhole(text);
  label.setVisible(!text.isEmpty());
}

}  // namespace

QString answerStateText(AnswerState state) {
  switch (state) {
    case AnswerState::Waiting:
      return AnswerCard::tr("waiting");
    case AnswerState::Computing:
      return AnswerCard::tr("computing the prompt …");
    case AnswerState::Streaming:
      return AnswerCard::tr("streaming …");
    case AnswerState::Finished:
      return {};
    case AnswerState::Stopped:
      return AnswerCard::tr("stopped");
    case AnswerState::Failed:
      return AnswerCard::tr("failed");
  }
  return {};
}

AnswerCard::AnswerCard(QWidget* parent)
    : QWidget(parent),
      m_title(new ElidedLabel(this)),
      m_run(new QLabel(this)),
      m_policy(new QLabel(this)),
      m_text(new BreakingLabel(this)),
      m_problem(new BreakingLabel(this)),
      m_advice(new QLabel(this)),
      m_brief(new QLabel(this)),
      m_more(new QToolButton(this)),
      m_policies(new QToolButton(this)),
      m_adapter(new QToolButton(this)),
      m_offers(new QBoxLayout(QBoxLayout::TopToBottom)),
      m_madeFor(new QLabel(this)),
      m_models(new QToolButton(this)),
      m_same(new QLabel(this)),
      m_facts(new QLabel(this)),
      m_fidelity(new QLabel(this)),
      m_progress(makeMeasureProgress(this)),
      m_full(new BreakingLabel(this)),
      m_measure(new QToolButton(this)),
      m_fidelityRow(new QBoxLayout(QBoxLayout::LeftToRight)),
      m_copy(new QToolButton(this)) {
  setFocusPolicy(Qt::StrongFocus);
  for (QLabel* label : {m_run, m_policy, m_advice, m_madeFor, m_same, m_facts, m_fidelity}) {
    label->setTextFormat(Qt::PlainText);
  }
  for (QLabel* label : {m_advice, m_madeFor, m_same, m_facts}) label->setWordWrap(true);
  m_facts->setToolTip(metricExplanation("time-to-first-token"));
  m_policy->setWordWrap(true);
  m_run->setWordWrap(true);
  m_copy->setText(tr("Copy"));
  m_copy->setAutoRaise(true);
  m_copy->setToolTip(tr("Copy the answer"));
  connect(m_copy, &QToolButton::clicked, this, [this] {
    QApplication::clipboard()->setText(m_answer.text.isEmpty() ? m_answer.problem : m_answer.text);
  });

  addKeys(*this, tr("Select request"), {Qt::Key_Return, Qt::Key_Enter, Qt::Key_Space},
          [this] { Q_EMIT chosen(); });
  addKeys(*this, tr("Copy answer"), {QKeySequence::Copy}, [this] { m_copy->click(); });

  m_measure->setAutoRaise(true);
  connect(m_measure, &QToolButton::clicked, this, [this] {
    if (m_answer.isMeasuring)
      Q_EMIT stopWanted();
    else
      Q_EMIT fidelityWanted();
  });

  m_advice->setObjectName(QStringLiteral("advice"));
  m_brief->setObjectName(QStringLiteral("briefAdvice"));
  m_brief->setTextFormat(Qt::PlainText);
  m_brief->setWordWrap(true);
  m_brief->hide();
  m_more->setObjectName(QStringLiteral("moreAdvice"));
  m_more->setText(tr("More"));
  m_more->setToolTip(tr("Show all advice on this answer, with its buttons"));
  m_more->setAutoRaise(true);
  m_more->hide();
  connect(m_more, &QToolButton::clicked, this, [this] {
    m_isAdviceWanted = true;
    showAdvice();
  });

  m_policies->setText(tr("Compare policies"));
  m_policies->setToolTip(tr("Run the query under several policies, and compare times, answers and fidelity"));
  m_policies->hide();
  connect(m_policies, &QToolButton::clicked, this, &AnswerCard::policiesWanted);

  m_adapter->setToolTip(tr("Use the bundled adapter for block attention. The next run loads this adapter"));
  m_adapter->hide();
  connect(m_adapter, &QToolButton::clicked, this, &AnswerCard::adapterWanted);

  m_models->setText(tr("Choose a model"));
  m_models->setToolTip(tr("Show the models of this machine, and how to get others"));
  m_models->setAutoRaise(true);
  m_models->hide();
  connect(m_models, &QToolButton::clicked, this, &AnswerCard::modelsWanted);

  auto* header = new QHBoxLayout;
  header->setSpacing(2 * kSpace);
  header->addWidget(m_title, 1);
  header->addWidget(m_copy);
  m_fidelity->setWordWrap(true);
  m_fidelityRow->setSpacing(2 * kSpace);
  m_fidelityRow->addWidget(m_fidelity, 1);
  m_fidelityRow->addWidget(m_measure, 0, Qt::AlignTop | Qt::AlignLeft);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(3 * kSpace, 2 * kSpace, 2 * kSpace, 2 * kSpace);
  layout->setSpacing(kSpace);
  layout->addLayout(header);
  // Advice comes before the answer.
  layout->addWidget(m_advice);
  auto* brief = new QHBoxLayout;
  brief->setSpacing(2 * kSpace);
  brief->addWidget(m_brief, 1);
  brief->addWidget(m_more, 0, Qt::AlignTop);
  layout->addLayout(brief);
  m_offers->setSpacing(kSpace);
  // Side by side, the offers must not keep the card wider than a narrow dock.
  for (QToolButton* offer : {m_policies, m_adapter}) offer->setMinimumWidth(1);
  m_offers->addWidget(m_policies, 0, Qt::AlignLeft);
  m_offers->addWidget(m_adapter, 1, Qt::AlignLeft);
  layout->addLayout(m_offers);
  layout->addWidget(m_text);
  layout->addWidget(m_problem);
  layout->addWidget(m_madeFor);
  layout->addWidget(m_models, 0, Qt::AlignLeft);
  layout->addLayout(m_fidelityRow);
  m_progress->setMinimumWidth(40);
  layout->addWidget(m_progress);
  layout->addWidget(m_full);
  layout->addWidget(m_same);
  layout->addWidget(m_run);
  layout->addWidget(m_facts);
  layout->addWidget(m_policy);
}

void AnswerCard::setContent(const Answer& answer, const Theme& theme, bool selected) {
  if (m_theme == theme && answer == m_answer && selected == m_selected) return;
  const bool newTheme = m_theme != theme;
  m_answer = answer;
  m_theme = theme;
  m_selected = selected;
  if (newTheme) {
    QFont bold = theme.interfaceFont();
    bold.setWeight(QFont::DemiBold);
    setInk(*m_title, theme.color(Role::Text), bold);
    setInk(*m_run, theme.color(Role::TextSecond), theme.smallFont());
    setInk(*m_policy, theme.color(Role::TextThird), theme.smallFont());
    setInk(*m_text, theme.color(Role::Text), theme.interfaceFont());
    setInk(*m_problem, theme.color(Role::Error), theme.interfaceFont());
    setInk(*m_advice, theme.color(Role::ComputedInk), theme.smallFont());
    setInk(*m_madeFor, theme.color(Role::TextSecond), theme.smallFont());
    setInk(*m_same, theme.color(Role::HitInk), theme.smallFont());
    setInk(*m_facts, theme.color(Role::TextThird), theme.smallFont());
    setInk(*m_full, theme.color(Role::TextSecond), theme.smallFont());
    m_copy->setFont(theme.smallFont());
    m_measure->setFont(theme.smallFont());
    setInk(*m_brief, theme.color(Role::ComputedInk), theme.smallFont());
    m_more->setFont(theme.smallFont());
    m_policies->setFont(theme.smallFont());
    m_adapter->setFont(theme.smallFont());
    m_models->setFont(theme.smallFont());
  }
  const QString state = answerStateText(answer.state);
  m_title->setText(answer.name);
  QStringList where{tr("run %1").arg(answer.run)};
  const QString arithmetic =
      answer.arithmetic.isEmpty() ? QString() : tr("%1 arithmetic").arg(answer.arithmetic);
  for (const QString& part : {answer.document, answer.model, arithmetic, state}) {
    if (!part.isEmpty()) where += part;
  }
  m_run->setText(where.join(tr(" · ")));
  m_run->setToolTip(answer.time.isEmpty() ? QString() : tr("Started %1").arg(answer.time));
  const QString exactness = exactnessText(answer);
  const QString policy =
      answer.layout.isEmpty() ? answer.policy : tr("%1, %2").arg(answer.policy, answer.layout);
  m_policy->setText(exactness.isEmpty() ? policy : tr("%1: %2").arg(policy, exactness));
  showFidelity();
  setTextIfNew(*m_text, answer.text);
  setTextIfNew(*m_problem, answer.state == AnswerState::Failed && answer.problem.isEmpty()
                               ? tr("Failed. The trace does not contain the reason.")
                               : answer.problem);
  setInk(*m_problem, theme.color(answer.state == AnswerState::Failed ? Role::Error : Role::TextSecond),
         theme.interfaceFont());
  setTextIfNew(*m_same, sameText(answer));
  QStringList advice = answer.advice;
  if (const QString other = modelText(answer); !other.isEmpty()) advice.prepend(other);
  for (QString& line : advice) line.prepend(QStringLiteral("⚠ "));
  if (!answer.offer.isEmpty()) advice.append(answer.offer);
  setTextIfNew(*m_advice, advice.join(QLatin1Char('\n')));
  m_policies->setAccessibleName(tr("Compare policies, as suggested after run %1").arg(answer.run));
  m_adapter->setText(tr("Use adapter"));
  m_adapter->setAccessibleName(tr("Use adapter %1").arg(answer.fittingAdapter));
  showAdvice();
  setTextIfNew(*m_madeFor, madeForText(answer));
  m_models->setVisible(!m_madeFor->text().isEmpty());
  m_models->setAccessibleName(tr("Choose a model other than the model of run %1").arg(answer.run));
  setTextIfNew(*m_facts, answerFacts(answer));
  m_copy->setVisible(!answer.text.isEmpty() || !answer.problem.isEmpty());
  m_copy->setAccessibleName(tr("Copy the answer of %1, run %2").arg(answer.name).arg(answer.run));
  setAccessibleName(tr("%1, run %2").arg(answer.name).arg(answer.run));
  setAccessibleDescription(QStringList{state, answer.text, answer.problem, madeForText(answer),
                                       fidelityHeadline(answer), advice.join(QLatin1Char(' '))}
                               .join(QLatin1Char(' ')));
  update();
}

void AnswerCard::setCompact(bool isCompact) {
  if (std::exchange(m_isCompact, isCompact) == isCompact) return;
  m_isAdviceWanted = false;
  showAdvice();
}

void AnswerCard::showAdvice() {
  const QString whole = m_advice->text();
  const QString first = whole.section(QLatin1Char('\n'), 0, 0);
  const bool hasOffers = m_answer.offersPolicies || !m_answer.fittingAdapter.isEmpty();
  const bool isLong = hasOffers || first != whole;
  const bool isBrief = m_isCompact && !m_isAdviceWanted && isLong && !whole.isEmpty();
  if (m_brief->text() != first) m_brief->setText(first);
  m_brief->setToolTip(whole);
  m_brief->setVisible(isBrief);
  m_more->setVisible(isBrief);
  m_more->setAccessibleName(tr("More advice on run %1").arg(m_answer.run));
  m_advice->setVisible(!isBrief && !whole.isEmpty());
  m_policies->setVisible(!isBrief && m_answer.offersPolicies);
  m_adapter->setVisible(!isBrief && !m_answer.fittingAdapter.isEmpty());
}

void AnswerCard::showFidelity() {
  const QString details = fidelityDetails(m_answer);
  const QString words = QStringList({explain(u"policy"), explain(u"exactness"), explain(u"block-attention"),
                                     explain(u"full-prefill")})
                            .join(QLatin1Char('\n'));
  m_policy->setToolTip(details.isEmpty() ? words : details);
  const QString headline = fidelityHeadline(m_answer);
  setTextIfNew(*m_fidelity, headline);
  m_fidelity->setToolTip(details.isEmpty() ? explain(u"full-prefill") : details);
  const bool isSame =
      m_answer.fidelity && m_answer.fidelity->sampledSteps == 0 && m_answer.fidelity->sameAnswers == 1;
  QFont font = m_theme->smallFont();
  font.setWeight(m_answer.fidelity ? QFont::DemiBold : QFont::Normal);
  setInk(*m_fidelity,
         m_theme->color(isSame                 ? Role::HitInk
                        : m_answer.fidelity    ? Role::Text
                        : m_answer.isMeasuring ? Role::TextSecond
                                               : Role::TextThird),
         font);
  m_progress->setVisible(m_answer.isMeasuring);
  m_progress->setValue(static_cast<int>(m_answer.measuredShare * m_progress->maximum()));
  m_progress->setAccessibleName(headline);
  QString full = m_answer.measureProblem;
  if (full.isEmpty() && !m_answer.fullText.isEmpty())
    full = tr("A full prefill answers: %1").arg(m_answer.fullText);
  setTextIfNew(*m_full, full);
  m_measure->setText(m_answer.isMeasuring ? tr("Stop measuring")
                     : m_answer.fidelity  ? tr("Measure again")
                                          : tr("Measure fidelity"));
  m_measure->setVisible(m_answer.state == AnswerState::Finished && m_answer.generatedTokens > 0 &&
                        m_answer.server.isEmpty());
  m_measure->setEnabled(m_answer.isMeasuring || m_answer.measureReason.isEmpty());
  m_measure->setToolTip(m_answer.isMeasuring || m_answer.measureReason.isEmpty()
                            ? tr("Compare this answer with a full prefill of the same tokens. The comparison "
                                 "takes as long as computing the prompt without a cache.")
                            : m_answer.measureReason);
  m_measure->setAccessibleName(
      tr("%1 of %2, run %3").arg(m_measure->text(), m_answer.name).arg(m_answer.run));
}

void AnswerCard::paintEvent(QPaintEvent* /*event*/) {
  if (!m_theme) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF area = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
  const bool marked = m_selected || hasFocus();
  painter.setBrush(m_theme->color(Role::Surface));
  painter.setPen(QPen(m_theme->color(marked ? Role::Accent : Role::Line), m_selected ? 2 : 1));
  painter.drawRoundedRect(m_selected ? area.adjusted(0.5, 0.5, -0.5, -0.5) : area, kDockRadius, kDockRadius);
}

void AnswerCard::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const auto direction = width() < kLeastForRow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight;
  if (m_fidelityRow->direction() != direction) m_fidelityRow->setDirection(direction);
  const QMargins margins = layout()->contentsMargins();
  const int offers = m_policies->sizeHint().width() + m_adapter->sizeHint().width() + m_offers->spacing();
  const bool isBeside = offers <= width() - margins.left() - margins.right();
  const auto beside = isBeside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom;
  if (m_offers->direction() != beside) m_offers->setDirection(beside);
  showAdvice();
}

void AnswerCard::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && rect().contains(event->position().toPoint())) Q_EMIT chosen();
}

void AnswerCard::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void AnswerCard::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

namespace {

constexpr std::size_t kAtFirst = 40;
/// In a lower dock, long advice would fill most of the height. In pixels.
constexpr int kLow = 260;

}  // namespace

OutputView::OutputView(QWidget* parent)
    : RunView(parent, InputPart::Replay),
      m_most(kAtFirst),
      m_scroll(new QScrollArea(this)),
      m_more(new QPushButton) {
  setAccessibleName(tr("Output"));
  auto* content = new QWidget(m_scroll);
  content->setAutoFillBackground(false);
  m_list = new QVBoxLayout(content);
  m_list->setContentsMargins(2 * kSpace, 2 * kSpace, 2 * kSpace, 2 * kSpace);
  m_list->setSpacing(2 * kSpace);
  m_list->addWidget(m_more);
  m_list->addStretch(1);
  m_more->hide();
  connect(m_more, &QPushButton::clicked, this, [this] {
    m_most += kAtFirst;
    if (input() != nullptr) refresh();
  });
  m_scroll->setWidget(content);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->viewport()->setAutoFillBackground(false);
  m_scroll->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_scroll);
  m_scope = new ScopeBox(titleRow());
  connect(m_scope, &ScopeBox::changed, this, [this] {
    if (input() != nullptr) refresh();
  });
}

RunScope OutputView::scope() const {
  return m_scope ? m_scope->scope() : RunScope::Document;
}

/// The last run that has begun by the position: the newest one, or the one to which the user went back. 0:
/// none.
RunId OutputView::runInView() const {
  RunId shown = 0;
  for (const auto& [run, state] : input()->state().progress().runs) {
    if (scope() == RunScope::All || !isOfOther(*input(), run)) shown = run;
  }
  return shown;
}

void OutputView::scrollToRun() {
  const auto first = std::find_if(m_cards.begin(), m_cards.end(),
                                  [this](const AnswerCard* card) { return card->answer().run == m_shown; });
  if (first == m_cards.end()) return;
  m_list->activate();
  m_scroll->verticalScrollBar()->setValue(first == m_cards.begin() ? 0 : (*first)->y() - kSpace);
}

QString OutputView::emptyText() const {
  if (!m_model.answers.empty()) return {};
  if (m_model.others > 0) return tr("No answers of this query yet. Run the query, or choose “All queries”.");
  return tr("Run a query to read its answers here.");
}

bool OutputView::isLow() const {
  return height() < kLow;
}

void OutputView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  for (AnswerCard* card : m_cards) card->setCompact(isLow());
}

void OutputView::refresh() {
  m_model = outputModel(*input(), m_most, scope());
  if (m_scope) m_scope->setOthers(m_model.others);
  while (m_cards.size() > m_model.answers.size()) {
    m_cards.back()->deleteLater();
    m_cards.back()->hide();
    m_list->removeWidget(m_cards.back());
    m_cards.pop_back();
  }
  while (m_cards.size() < m_model.answers.size()) {
    auto* card = new AnswerCard(m_scroll->widget());
    connect(card, &AnswerCard::chosen, this, [this, card] {
      const Answer& answer = card->answer();
      if (answer.request != 0) Q_EMIT selectionWanted(selectionOf(answer.run, answer.request, answer.node));
    });
    connect(card, &AnswerCard::fidelityWanted, this, [this, card] {
      Q_EMIT commandWanted(QStringLiteral("run.fidelity:%1").arg(card->answer().request));
    });
    connect(card, &AnswerCard::policiesWanted, this,
            [this] { Q_EMIT commandWanted(QStringLiteral("run.policies:run")); });
    connect(card, &AnswerCard::adapterWanted, this,
            [this] { Q_EMIT commandWanted(QStringLiteral("run.use-adapter")); });
    connect(card, &AnswerCard::modelsWanted, this,
            [this] { Q_EMIT commandWanted(QStringLiteral("run.choose-model")); });
    connect(card, &AnswerCard::stopWanted, this,
            [this] { Q_EMIT commandWanted(QStringLiteral("run.stop")); });
    m_list->insertWidget(static_cast<int>(m_cards.size()), card);
    card->show();
    m_cards.push_back(card);
  }
  for (std::size_t i = 0; i < m_cards.size(); ++i) {
    const Answer& answer = m_model.answers[i];
    const bool selected = answer.request != 0 && input()->selection.request == answer.request;
    m_cards[i]->setCompact(isLow());
    m_cards[i]->setContent(answer, input()->theme, selected);
  }
  // Once the cards have their heights.
  if (const RunId shown = runInView(); std::exchange(m_shown, shown) != shown)
    QTimer::singleShot(0, this, &OutputView::scrollToRun);
  m_more->setText(tr("Show earlier answers (%1)").arg(m_model.left));
  m_more->setVisible(m_model.left > 0);
  m_scroll->setVisible(!m_model.answers.empty());
  const std::size_t count = m_model.answers.size() + m_model.left;
  Q_EMIT summaryChanged(count == 0 ? QString() : count == 1 ? tr("1 answer") : tr("%1 answers").arg(count));
  update();
}

QString OutputView::csv() const {
  if (input() == nullptr) return {};
  const OutputModel model = outputModel(*input(), std::numeric_limits<std::size_t>::max(), scope());
  return model.answers.empty() ? QString() : outputCsv(model);
}

void OutputView::paintTo(QPainter& painter, const QSize& size) {
  if (input() != nullptr) refresh();
  if (paintIfEmpty(painter, size)) return;
  PaintedTable table{
      .headers = {tr("Run"), tr("Step"), tr("Answer"), tr("Measured")}, .shares = {1, 2, 7, 5}, .rows = {}};
  for (const Answer& answer : m_model.answers) {
    const bool failed = answer.state == AnswerState::Failed;
    QString facts = answerFacts(answer);
    QStringList more = answer.advice;
    if (const QString other = modelText(answer); !other.isEmpty()) more.prepend(other);
    for (QString& line : more) line.prepend(QStringLiteral("⚠ "));
    if (const QString madeFor = madeForText(answer); !madeFor.isEmpty()) more += madeFor;
    if (answer.sameAs != 0) more += sameText(answer);
    if (answer.fidelity || !answer.layout.isEmpty()) more += exactnessText(answer);
    for (const QString& line : more) facts += QLatin1Char('\n') + line;
    table.rows.push_back({{QString::number(answer.run), Role::TextSecond, true},
                          {answer.name, Role::TextSecond, false},
                          {failed ? answer.problem : answer.text, failed ? Role::Error : Role::Text, false},
                          {facts, Role::TextThird, false}});
  }
  paintTableInto(painter, size, table, theme());
}

ViewInfo outputRow() {
  return {.id = QStringLiteral("output"),
          .title = tr("Output"),
          .help = tr("The answers of every step and run"),
          .make = makeViewOf<OutputView>,
          .places = {{LayoutId::Author, Room::Low, Room::Low, 2, 1, 0, 40},
                     {LayoutId::Author, Room::Middle, Room::Large, 2, 2, 0, 34},
                     {LayoutId::Explain, Room::Low, Room::Low, 1, 0, 0, 45},
                     {LayoutId::Explain, Room::Middle, Room::Middle, 1, 0, 0, 34},
                     {LayoutId::Explain, Room::Full, Room::Large, 1, 0, 0, 27},
                     {LayoutId::Measure, Room::Low, Room::Low, 1, 0, 1, 0},
                     {LayoutId::Measure, Room::Middle, Room::Large, 1, 1, 0, 45}}};
}

}  // namespace spanscope::ui
