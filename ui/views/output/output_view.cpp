// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/output/output_view.h"

#include "ui/views/common/scope_box.h"
#include "ui/views/common/table_painting.h"
#include "ui/views/output/answer_card.h"
#include "ui/words/tr.h"

#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>
#include <utility>

namespace spanscope::ui {
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
  if (m_model.others > 0)
    return tr("No answers of this document yet. Run the document, or choose “All documents”.");
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
                     {LayoutId::Author, Room::Middle, Room::Large, 2, 2, 0, 22},
                     {LayoutId::Explain, Room::Low, Room::Low, 1, 0, 0, 45},
                     {LayoutId::Explain, Room::Middle, Room::Middle, 1, 0, 0, 34},
                     {LayoutId::Explain, Room::Full, Room::Large, 1, 0, 0, 27},
                     {LayoutId::Measure, Room::Low, Room::Low, 1, 0, 1, 0},
                     {LayoutId::Measure, Room::Middle, Room::Large, 1, 1, 0, 45}}};
}

}  // namespace spanscope::ui
