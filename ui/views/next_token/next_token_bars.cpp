// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/next_token/next_token_bars.h"

#include "ui/views/common/request_blocks.h"

#include <QFontMetrics>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPolygonF>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {
namespace {

constexpr int kStripHeight = 46;
constexpr int kStripName = 16;
constexpr int kBarRow = 24;
constexpr int kWidestCell = 18;

QString percent(double share) {
  return NextTokenBars::tr("%1 %").arg(100 * share, 0, 'f', 1);
}

}  // namespace

NextTokenBars::NextTokenBars(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Alternatives of the next token"));
  setFocusPolicy(Qt::StrongFocus);
}

void NextTokenBars::setContent(const NextTokenModel& model, const Theme& theme) {
  m_model = model;
  m_theme = theme;
  QStringList lines{nextTokenSentence(model)};
  if (model.isComputed()) {
    for (const workbench::Alternative& each : model.shown().alternatives)
      lines << tr("“%1”: %2, there %3").arg(shownToken(each.text), percent(each.own), percent(each.other));
  }
  setAccessibleDescription(lines.join(QLatin1Char('\n')));
  update();
}

QRect NextTokenBars::strip(const QRect& area) const {
  const auto count = static_cast<int>(std::max<std::size_t>(1, m_model.answerTokens));
  const int width = std::min(area.width() - 2, count * kWidestCell);
  return {area.left() + 1, area.top() + kStripName, width, kStripHeight - kStripName - 2};
}

std::optional<std::size_t> NextTokenBars::placeAt(const QPoint& point, const QRect& area) const {
  const QRect cells = strip(area);
  if (!m_model.isComputed() || !cells.adjusted(0, -kStripName, 0, 4).contains(point)) return std::nullopt;
  const double share = double(point.x() - cells.left()) / std::max(1, cells.width());
  const auto place = static_cast<std::size_t>(share * static_cast<double>(m_model.answerTokens));
  return std::min(place, m_model.answerTokens - 1);
}

void NextTokenBars::paintStrip(QPainter& painter, const QRect& area) const {
  const QRect cells = strip(area);
  double most = 1e-9;
  for (std::size_t i = 0; i < m_model.answerTokens; ++i)
    most = std::max(most, (*m_model.tokens)[i].divergence);
  painter.setFont(m_theme.smallFont());
  painter.setPen(m_theme.color(Role::TextThird));
  const QString name =
      tr("Divergence, token by token, up to %1 nats · ▼ the likeliest differs").arg(most, 0, 'f', 4);
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
  const workbench::NextToken& token = m_model.shown();
  const QFontMetrics small(m_theme.smallFont());
  const QFontMetrics mono(m_theme.monoFont());
  int names = 40;
  for (const workbench::Alternative& each : token.alternatives)
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
  for (const workbench::Alternative& each : token.alternatives) {
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
                       isBest ? tr("%1 · likeliest").arg(percent(share)) : percent(share));
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
  QPainter painter(this);
  paint(painter, rect().adjusted(2, 2, -2, -2));
  if (!hasFocus()) return;
  painter.setPen(QPen(m_theme.color(Role::Accent), 1));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void NextTokenBars::mousePressEvent(QMouseEvent* event) {
  const auto place = placeAt(event->position().toPoint(), rect().adjusted(2, 2, -2, -2));
  if (place) Q_EMIT placeChosen(*place);
}

void NextTokenBars::keyPressEvent(QKeyEvent* event) {
  if (!m_model.isComputed()) return QWidget::keyPressEvent(event);
  const std::size_t last = m_model.answerTokens - 1;
  const std::size_t now = m_model.place;
  switch (event->key()) {
    case Qt::Key_Right:
      return Q_EMIT placeChosen(std::min(now + 1, last));
    case Qt::Key_Left:
      return Q_EMIT placeChosen(now == 0 ? 0 : now - 1);
    case Qt::Key_Home:
      return Q_EMIT placeChosen(0);
    case Qt::Key_End:
      return Q_EMIT placeChosen(last);
    case Qt::Key_PageDown:
    case Qt::Key_PageUp: {
      // The next place at which the sides differ.
      const int step = event->key() == Qt::Key_PageDown ? 1 : -1;
      for (auto at = static_cast<std::ptrdiff_t>(now) + step;
           at >= 0 && at <= static_cast<std::ptrdiff_t>(last); at += step) {
        if (m_model.differsAt(static_cast<std::size_t>(at)))
          return Q_EMIT placeChosen(static_cast<std::size_t>(at));
      }
      return;
    }
    default:
      QWidget::keyPressEvent(event);
  }
}

bool NextTokenBars::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto place = placeAt(help->pos(), rect().adjusted(2, 2, -2, -2));
    if (place) {
      QToolTip::showText(help->globalPos(), tr("“%1”: %2 nats")
                                                .arg(m_model.texts[*place])
                                                .arg((*m_model.tokens)[*place].divergence, 0, 'f', 4));
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

void NextTokenBars::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void NextTokenBars::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

}  // namespace spanscope::ui
