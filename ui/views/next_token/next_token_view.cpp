// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/next_token/next_token_view.h"

#include "ui/views/common/answer_tokens.h"
#include "ui/views/common/request_blocks.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/next_token/facing_bars.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <initializer_list>

namespace spanscope::ui {

NextTokenView::NextTokenView(QWidget* parent)
    : RunView(parent, InputPart::Replay, Pace::EveryInput),
      m_status(new QLabel(this)),
      m_compute(new QPushButton(tr("Compute alternatives"), this)),
      m_headline(new QLabel(this)),
      m_answer(new AnswerTokens(this)),
      m_sentence(new QLabel(this)),
      m_bars(new FacingBars(this)) {
  setAccessibleName(tr("Next token"));
  setFocusProxy(m_answer);
  for (QLabel* label : {m_status, m_headline, m_sentence}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  }
  m_headline->setAccessibleName(tr("Result for the answer"));
  m_sentence->setAccessibleName(tr("Result for the token"));
  m_compute->setToolTip(tr("Compute the answer's tokens on both sides, and compare the tokens"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(m_compute);
  buttons->addWidget(m_status, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  column->setSpacing(kSpace);
  column->addWidget(m_headline);
  column->addLayout(buttons);
  column->addWidget(m_answer);
  column->addWidget(m_sentence);
  column->addWidget(m_bars, 1);
  column->addStretch(0);

  QHBoxLayout* row = titleRow();
  m_against = new QComboBox(row->parentWidget());
  m_against->setAccessibleName(tr("Compared with"));
  m_against->setToolTip(
      tr("Compare with a full prefill, or with another run of the same prompt under another policy"));
  m_against->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  row->addWidget(m_against);
  connect(m_against, &QComboBox::currentIndexChanged, this, [this] {
    if (!m_isFilling) compareWith(static_cast<RequestId>(m_against->currentData().toUInt()));
  });
  connect(m_compute, &QPushButton::clicked, this, [this] {
    Q_EMIT commandWanted(m_shown.isRunning ? QStringLiteral("run.stop") : QStringLiteral("run.next-token"));
  });
  connect(m_answer, &AnswerTokens::tokenChosen, this, [this](std::size_t place) {
    if (input() != nullptr && m_shown.choice.request != 0)
      Q_EMIT selectionWanted(selectionOfToken(*input(), placeOfAnswer(*input(), m_shown, place)));
  });
  for (QWidget* part : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->hide();
}

bool NextTokenView::canCompute() const {
  return m_shown.choice.request != 0 && m_shown.reason.isEmpty() && !m_shown.isRunning &&
         !m_shown.isComputed();
}

bool NextTokenView::canPerform(const QString& /*command*/) const {
  return isVisible() && canCompute();
}

void NextTokenView::perform(const QString& /*command*/) {
  Q_EMIT jobWanted(jobs::callOf<jobs::NextTokenJob>(m_shown.choice));
}

void NextTokenView::compareWith(RequestId other) {
  if (other == m_other) return;
  m_other = other;
  if (input() != nullptr) refresh();
}

QString NextTokenView::emptyText() const {
  return m_shown.choice.request == 0
             ? tr("Run a query to see other likely tokens of its answer, here and in a full prefill.")
             : QString();
}

QString NextTokenView::statusText() const {
  if (m_shown.isRunning) return tr("Computing the answer's tokens twice…");
  if (m_shown.isComputed())
    return tr("Bar under a token: %1, logarithmic from %2 to 1 nat. ▼: another most likely token. ●: token "
              "of "
              "the answer. Bold: most likely.")
        .arg(metricName("divergence"))
        .arg(kLeastNats);
  if (!m_shown.problem.isEmpty()) return m_shown.problem;
  return m_shown.reason.isEmpty() ? tr("The alternatives are not computed yet.") : m_shown.reason;
}

Role NextTokenView::statusRole() const {
  if (m_shown.isComputed()) return Role::TextThird;
  return !m_shown.problem.isEmpty() && !m_shown.isRunning ? Role::Error : Role::TextSecond;
}

void NextTokenView::refresh() {
  m_shown = nextTokenModel(*input(), m_other);
  showControls();
  m_answer->setContent(nextTokenTiles(m_shown), theme());
  m_bars->setContent(m_shown, theme());
  fitAnswer();
  update();
  if (canCompute() != m_couldCompute) {
    m_couldCompute = canCompute();
    Q_EMIT commandsChanged();
  }
  const QString summary = m_shown.isComputed() ? tr("token %1").arg(m_shown.place + 1) : QString();
  if (summary == m_lastSummary) return;
  m_lastSummary = summary;
  Q_EMIT summaryChanged(summary);
}

void NextTokenView::showControls() {
  const bool hasAnswer = m_shown.choice.request != 0;
  m_status->setVisible(hasAnswer);
  const bool hadFocus = m_compute->hasFocus();
  for (QWidget* part : std::initializer_list<QWidget*>{m_headline, m_answer, m_sentence, m_bars})
    part->setVisible(m_shown.isComputed());
  // Qt would give the focus of a hidden button to the next widget.
  if (hadFocus && m_shown.isComputed()) m_answer->setFocus();
  m_compute->setVisible(hasAnswer && !m_shown.isComputed());
  for (QLabel* label : {m_status, m_sentence}) label->setFont(theme().smallFont());
  m_headline->setFont(theme().titleFont());
  colorLabel(*m_status, theme(), statusRole());
  for (QLabel* label : {m_headline, m_sentence}) colorLabel(*label, theme(), Role::Text);
  m_status->setText(statusText());
  m_headline->setText(nextTokenHeadline(m_shown));
  m_sentence->setText(m_shown.isComputed() ? nextTokenSentence(m_shown, m_shown.place) : QString());
  m_compute->setText(m_shown.isRunning ? tr("Stop") : tr("Compute alternatives"));
  m_compute->setEnabled(m_shown.isRunning || canCompute());
  if (!m_against) return;
  QStringList names{tr("full prefill")};
  for (const QString& name : m_shown.otherNames) names << name;
  QStringList present;
  for (int i = 0; i < m_against->count(); ++i) present << m_against->itemText(i);
  m_isFilling = true;
  // A list that the user has opened does not change.
  if (names != present) {
    m_against->clear();
    m_against->addItem(names.front(), 0U);
    for (std::size_t i = 0; i < m_shown.others.size(); ++i)
      m_against->addItem(m_shown.otherNames[i], m_shown.others[i]);
  }
  m_against->setCurrentIndex(std::max(0, m_against->findData(m_shown.choice.other)));
  m_against->setVisible(hasAnswer);
  m_isFilling = false;
}

void NextTokenView::fitAnswer() {
  if (!m_shown.isComputed()) return;
  const int inner = std::max(1, width() - 4 * kSpace);
  m_answer->setFixedHeight(m_answer->fittingHeight(inner, height() / 2));
}

void NextTokenView::resizeEvent(QResizeEvent* event) {
  RunView::resizeEvent(event);
  fitAnswer();
}

QString NextTokenView::csv() const {
  return input() == nullptr ? QString() : nextTokenCsv(nextTokenModel(*input(), m_other));
}

void NextTokenView::paintTo(QPainter& painter, const QSize& size) {
  ensureFresh();
  if (paintIfEmpty(painter, size)) return;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  QRect inner = area.adjusted(2 * kSpace, kSpace, -2 * kSpace, -kSpace);
  const auto write = [&](const QString& text, Role ink) {
    paintTextAtTop(painter, inner, text, theme(), ink);
  };
  if (m_shown.isComputed()) write(nextTokenHeadline(m_shown), Role::Text);
  write(statusText(), statusRole());
  if (!m_shown.isComputed()) return;
  const int answer = m_answer->fittingHeight(inner.width(), size.height() / 2);
  m_answer->paint(painter, QRect(inner.left(), inner.top(), inner.width(), answer));
  inner.setTop(inner.top() + answer + kSpace);
  write(nextTokenSentence(m_shown, m_shown.place), Role::Text);
  m_bars->paint(painter, inner);
}

ViewInfo nextTokenRow() {
  return {.id = QStringLiteral("next-token"),
          .title = tr("Next token"),
          .help = tr("Other likely tokens of an answer, under two policies side by side"),
          .make = makeViewOf<NextTokenView>,
          .needs = {Fact::Prompts, Fact::TokenTexts},
          .commands = {QStringLiteral("run.next-token")}};
}

}  // namespace spanscope::ui
