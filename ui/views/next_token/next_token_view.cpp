// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/next_token/next_token_view.h"

#include "ui/views/common/request_blocks.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/views/next_token/next_token_bars.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace spanscope::ui {

NextTokenView::NextTokenView(QWidget* parent)
    : RunView(parent, InputPart::Replay, Pace::EveryInput),
      m_status(new QLabel(this)),
      m_compute(new QPushButton(tr("Compute"), this)),
      m_bars(new NextTokenBars(this)),
      m_sentence(new QLabel(this)) {
  setAccessibleName(tr("Next token"));
  setFocusProxy(m_bars);
  for (QLabel* label : {m_status, m_sentence}) {
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  }
  m_sentence->setAccessibleName(tr("What the numbers say"));
  m_compute->setToolTip(tr("Puts the answer through the model twice, its tokens given"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(m_compute);
  buttons->addWidget(m_status, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(2 * kSpace, kSpace, 2 * kSpace, kSpace);
  column->setSpacing(kSpace);
  column->addLayout(buttons);
  column->addWidget(m_sentence);
  column->addWidget(m_bars, 1);
  column->addStretch(0);

  QHBoxLayout* row = titleRow();
  m_against = new QComboBox(row->parentWidget());
  m_against->setAccessibleName(tr("Compared with"));
  m_against->setToolTip(tr("A full prefill, or another run of the same prompt under another policy"));
  m_against->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  row->addWidget(m_against);
  connect(m_against, &QComboBox::currentIndexChanged, this, [this] {
    if (!m_isFilling) compareWith(static_cast<RequestId>(m_against->currentData().toUInt()));
  });
  connect(m_compute, &QPushButton::clicked, this, [this] {
    Q_EMIT commandWanted(m_shown.isRunning ? QStringLiteral("run.stop") : QStringLiteral("run.next-token"));
  });
  connect(m_bars, &NextTokenBars::placeChosen, this, [this](std::size_t place) {
    if (input() != nullptr && m_shown.choice.request != 0)
      Q_EMIT selectionWanted(selectionOfToken(*input(), placeOfAnswer(*input(), m_shown, place)));
  });
  for (QWidget* part : findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) part->hide();
}

bool NextTokenView::canCompute() const {
  return m_shown.choice.request != 0 && m_shown.obstacle.isEmpty() && !m_shown.isRunning &&
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
             ? tr("Run a query to see what else might have stood in its answer, here and in a full prefill.")
             : QString();
}

QString NextTokenView::statusText() const {
  if (m_shown.isRunning) return tr("Putting the answer through the model twice…");
  if (m_shown.isComputed())
    return tr("%1 beside %2. ● stands in the answer.").arg(m_shown.ownName, m_shown.otherName);
  if (!m_shown.problem.isEmpty()) return m_shown.problem;
  return m_shown.obstacle.isEmpty() ? tr("The alternatives are not recorded: compute them.")
                                    : m_shown.obstacle;
}

Role NextTokenView::statusRole() const {
  const bool isProblem = !m_shown.problem.isEmpty() && !m_shown.isRunning && !m_shown.isComputed();
  return isProblem ? Role::Error : Role::TextSecond;
}

void NextTokenView::refresh() {
  m_shown = nextTokenModel(*input(), m_other);
  showControls();
  m_bars->setContent(m_shown, theme());
  update();
  if (canCompute() != m_couldCompute) {
    m_couldCompute = canCompute();
    Q_EMIT commandsChanged();
  }
  const QString summary =
      m_shown.isComputed() ? tr("%1 nats here").arg(m_shown.shown().divergence, 0, 'f', 4) : QString();
  if (summary == m_lastSummary) return;
  m_lastSummary = summary;
  Q_EMIT summaryChanged(summary);
}

void NextTokenView::showControls() {
  const bool hasAnswer = m_shown.choice.request != 0;
  m_status->setVisible(hasAnswer);
  const bool hadFocus = m_compute->hasFocus();
  m_sentence->setVisible(m_shown.isComputed());
  m_bars->setVisible(m_shown.isComputed());
  // Qt would give the focus of a button that goes to whatever comes next.
  if (hadFocus && m_shown.isComputed()) m_bars->setFocus();
  m_compute->setVisible(hasAnswer && !m_shown.isComputed());
  for (QLabel* label : {m_status, m_sentence}) label->setFont(theme().smallFont());
  colorLabel(*m_status, theme(), statusRole());
  colorLabel(*m_sentence, theme(), Role::Text);
  m_status->setText(statusText());
  m_sentence->setText(nextTokenSentence(m_shown));
  m_compute->setText(m_shown.isRunning ? tr("Stop") : tr("Compute"));
  m_compute->setEnabled(m_shown.isRunning || canCompute());
  if (!m_against) return;
  QStringList names{tr("full prefill")};
  for (const QString& name : m_shown.otherNames) names << name;
  QStringList present;
  for (int i = 0; i < m_against->count(); ++i) present << m_against->itemText(i);
  m_isFilling = true;
  // A list that a person has opened stays as it is.
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
  write(statusText(), statusRole());
  if (!m_shown.isComputed()) return;
  write(nextTokenSentence(m_shown), Role::Text);
  m_bars->paint(painter, inner);
}

ViewInfo nextTokenRow() {
  return {.id = QStringLiteral("next-token"),
          .title = tr("Next token"),
          .help = tr("What else might have stood in an answer, under two policies side by side"),
          .make = makeViewOf<NextTokenView>,
          .needs = {Fact::Prompts, Fact::TokenTexts},
          .commands = {QStringLiteral("run.next-token")}};
}

}  // namespace spanscope::ui
