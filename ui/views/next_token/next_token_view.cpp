// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/next_token/next_token_view.h"

#include "ui/views/common/request_blocks.h"
#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"
#include "ui/words/metric_words.h"
#include "ui/words/tr.h"

#include <QComboBox>
#include <QFontMetrics>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPolygonF>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

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
  m_sentence->setAccessibleName(tr("Result"));
  m_compute->setToolTip(tr("Compute the answer's tokens on both sides to compare them"));
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
  connect(m_bars, &NextTokenBars::placeChosen, this, [this](std::size_t place) {
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
    return tr("%1 next to %2. ●: token of the answer.").arg(m_shown.ownName, m_shown.otherName);
  if (!m_shown.problem.isEmpty()) return m_shown.problem;
  return m_shown.reason.isEmpty() ? tr("The alternatives are not computed yet.") : m_shown.reason;
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
  // Qt would give the focus of a hidden button to the next widget.
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
          .help = tr("Other likely tokens of an answer, under two policies side by side"),
          .make = makeViewOf<NextTokenView>,
          .needs = {Fact::Prompts, Fact::TokenTexts},
          .commands = {QStringLiteral("run.next-token")}};
}

namespace {

constexpr int kStripHeight = 46;
constexpr int kStripName = 16;
constexpr int kBarRow = 24;
constexpr int kWidestCell = 18;

QString percent(double share) {
  return NextTokenBars::tr("%1 %").arg(100 * share, 0, 'f', 1);
}

}  // namespace

NextTokenBars::NextTokenBars(QWidget* parent) : ItemCanvas(parent) {
  setAccessibleName(tr("Alternatives of the next token"));
}

void NextTokenBars::setContent(const NextTokenModel& model, const Theme& theme) {
  m_model = model;
  m_theme = theme;
  QStringList lines{nextTokenSentence(model)};
  if (model.isComputed()) {
    for (const jobs::Alternative& each : model.shown().alternatives)
      lines << tr("“%1”: %2, there %3").arg(shownToken(each.text), percent(each.own), percent(each.other));
  }
  setAccessibleDescription(lines.join(QLatin1Char('\n')));
  QStringList tokens;
  for (std::size_t i = 0; model.isComputed() && i < model.answerTokens; ++i)
    tokens << tr("“%1”: %2 nats").arg(model.texts[i]).arg((*model.tokens)[i].divergence, 0, 'f', 4);
  const QScopedValueRollback<bool> filling(m_isFilling, true);
  setItems(tokens);
  setCurrentItem(static_cast<int>(model.place));
  viewport()->update();
}

QRect NextTokenBars::strip(const QRect& area) const {
  const auto count = static_cast<int>(std::max<std::size_t>(1, m_model.answerTokens));
  const int width = std::min(area.width() - 2, count * kWidestCell);
  return {area.left() + 1, area.top() + kStripName, width, kStripHeight - kStripName - 2};
}

QRect NextTokenBars::itemRect(int item) const {
  const QRect cells = strip(viewport()->rect().adjusted(2, 2, -2, -2));
  const double width =
      double(cells.width()) / static_cast<double>(std::max<std::size_t>(1, m_model.answerTokens));
  const int left = static_cast<int>(width * item);
  return {cells.left() + left, cells.top() - kStripName, static_cast<int>(width * (item + 1)) - left,
          kStripHeight};
}

void NextTokenBars::paintStrip(QPainter& painter, const QRect& area) const {
  const QRect cells = strip(area);
  double most = 1e-9;
  for (std::size_t i = 0; i < m_model.answerTokens; ++i)
    most = std::max(most, (*m_model.tokens)[i].divergence);
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(Role::TextThird));
  const QString name = tr("%1, token by token, up to %2 nats · ▼ the most likely token differs")
                           .arg(metricTitle("divergence"))
                           .arg(most, 0, 'f', 4);
  painter.drawText(QRect(area.left(), area.top(), area.width(), kStripName), Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetrics(m_theme.smallFont()).elidedText(name, Qt::ElideRight, area.width()));
  const double width = double(cells.width()) / static_cast<double>(m_model.answerTokens);
  painter.fillRect(QRectF(cells.left(), cells.bottom(), cells.width(), 1), m_theme.color(Role::Outline));
  for (std::size_t i = 0; i < m_model.answerTokens; ++i) {
    const double x = cells.left() + width * static_cast<double>(i);
    const double room = cells.height() - 8;
    const double height = std::max(1.0, room * (*m_model.tokens)[i].divergence / most);
    painter.fillRect(QRectF(x + 1, cells.bottom() - height, std::max(1.0, width - 2), height),
                     m_theme.color(Role::TextThird));
    if (m_model.differsAt(i)) {
      const double middle = x + width / 2;
      painter.setPen(Qt::NoPen);
      painter.setBrush(m_theme.color(Role::ComputedInk));
      const double top = cells.top();
      painter.drawPolygon(QPolygonF({{middle - 3.5, top}, {middle + 3.5, top}, {middle, top + 6}}));
      painter.setBrush(Qt::NoBrush);
    }
    if (i == m_model.place) {
      painter.setPen(QPen(m_theme.color(Role::Accent), 2));
      painter.drawRect(QRectF(x, cells.top() - 1, width, cells.height() + 2));
    }
  }
}

void NextTokenBars::paintAlternatives(QPainter& painter, const QRect& area) const {
  const jobs::NextToken& token = m_model.shown();
  const QFontMetrics small(m_theme.smallFont());
  const QFontMetrics mono(m_theme.monoFont());
  int names = 40;
  for (const jobs::Alternative& each : token.alternatives)
    names = std::max(names, mono.horizontalAdvance(shownToken(each.text)) + 24);
  names = std::min(names, area.width() / 4);
  const int change = small.horizontalAdvance(tr("▼ −100.0")) + kSpace;
  const int side = (area.width() - names - change) / 2 - 2 * kSpace;
  const int own = area.left() + names;
  const int other = own + side + 2 * kSpace;
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(Role::TextSecond));
  const auto head = [&](int x, int width, const QString& text) {
    painter.drawText(QRect(x, area.top(), width, kBarRow - 4), Qt::AlignLeft | Qt::AlignVCenter,
                     small.elidedText(text, Qt::ElideRight, width));
  };
  head(own, side, m_model.ownName);
  head(other, side, m_model.otherName);
  head(other + side + kSpace, change, tr("points"));
  int y = area.top() + kBarRow;
  for (const jobs::Alternative& each : token.alternatives) {
    if (y + kBarRow > area.bottom() + 2) break;
    const bool isDrawn = each.token == token.drawn;
    painter.setFont(m_theme.monoFont());
    painter.setPen(m_theme.color(Role::Text));
    painter.drawText(QRect(area.left(), y, names - 2 * kSpace, kBarRow), Qt::AlignRight | Qt::AlignVCenter,
                     mono.elidedText((isDrawn ? tr("● ") : QString()) + shownToken(each.text), Qt::ElideRight,
                                     names - 2 * kSpace));
    const auto bar = [&](int x, double share, bool isBest, std::size_t hue) {
      const QRectF all(x, y + 4, side, kBarRow - 8);
      painter.fillRect(all, m_theme.color(Role::Canvas));
      painter.fillRect(QRectF(all.left(), all.top(), std::max(1.0, share * side), all.height()),
                       m_theme.segmentTint(hue));
      painter.fillRect(QRectF(all.left(), all.top(), 2, all.height()), m_theme.segmentInk(hue));
      painter.setFont(m_theme.smallFont());
      painter.setPen(m_theme.color(Role::Text));
      painter.drawText(all.adjusted(6, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter,
                       isBest ? tr("%1 · most likely").arg(percent(share)) : percent(share));
    };
    bar(own, each.own, each.token == token.ownBest, 0);
    bar(other, each.other, each.token == token.otherBest, 2);
    const double points = 100 * (each.other - each.own);
    const bool isEqual = std::abs(points) < 0.05;
    painter.setPen(m_theme.color(isEqual ? Role::TextThird : Role::Text));
    painter.drawText(QRect(other + side + kSpace, y, change, kBarRow), Qt::AlignLeft | Qt::AlignVCenter,
                     isEqual      ? tr("=")
                     : points > 0 ? tr("▲ +%1").arg(points, 0, 'f', 1)
                                  : tr("▼ −%1").arg(-points, 0, 'f', 1));
    y += kBarRow;
  }
}

void NextTokenBars::paint(QPainter& painter, const QRect& area) const {
  if (!m_model.isComputed()) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  paintStrip(painter, area);
  paintAlternatives(painter, area.adjusted(0, kStripHeight + kSpace, 0, 0));
  painter.restore();
}

void NextTokenBars::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  paint(painter, viewport()->rect().adjusted(2, 2, -2, -2));
  if (!hasFocus()) return;
  painter.setPen(QPen(m_theme.color(Role::Accent), 1));
  painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
}

QModelIndex NextTokenBars::moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) {
  if (action != MovePageUp && action != MovePageDown) return ItemCanvas::moveCursor(action, modifiers);
  const int step = action == MovePageDown ? 1 : -1;
  for (int item = currentItem() + step; item >= 0 && item < count(); item += step) {
    if (m_model.differsAt(static_cast<std::size_t>(item))) return model()->index(item, 0);
  }
  return currentIndex();
}

void NextTokenBars::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  ItemCanvas::currentChanged(current, previous);
  if (!m_isFilling && current.isValid()) Q_EMIT placeChosen(static_cast<std::size_t>(current.row()));
}

}  // namespace spanscope::ui
