// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/painted_scroll.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

PaintedScroll::PaintedScroll(QWidget* parent) : QAbstractScrollArea(parent) {
  setFrameShape(QFrame::NoFrame);
  setFocusPolicy(Qt::StrongFocus);
  horizontalScrollBar()->setSingleStep(24);
  verticalScrollBar()->setSingleStep(24);
  for (const QScrollBar* bar : {horizontalScrollBar(), verticalScrollBar()})
    connect(bar, &QScrollBar::actionTriggered, this, [this] { m_reveal = nullptr; });
}

void PaintedScroll::setTheme(const Theme& theme) {
  if (m_theme == theme) return;
  m_theme = theme;
  viewport()->update();
}

QPoint PaintedScroll::offset() const {
  return {horizontalScrollBar()->value(), verticalScrollBar()->value()};
}

QRect PaintedScroll::visibleContent() const {
  return {offset(), seenSize()};
}

QSize PaintedScroll::seenSize() const {
  return viewport()->size() / m_scale;
}

QRect PaintedScroll::inViewport(const QRect& place) const {
  const QRectF moved = place.translated(-offset());
  return QRectF(moved.topLeft() * m_scale, moved.size() * m_scale).toAlignedRect();
}

QPoint PaintedScroll::inContent(const QPoint& place) const {
  return (QPointF(place) / m_scale).toPoint() + offset();
}

void PaintedScroll::setScale(double scale) {
  if (m_scale == scale) return;
  m_scale = scale;
  contentChanged();
}

void PaintedScroll::scrollTo(const QPoint& topLeft) {
  horizontalScrollBar()->setValue(topLeft.x());
  verticalScrollBar()->setValue(topLeft.y());
}

void PaintedScroll::makeVisible(const QRect& place, int margin) {
  const QRect wanted = place.adjusted(-margin, -margin, margin, margin);
  const QRect seen = visibleContent();
  const auto shifted = [](int begin, int end, int seenBegin, int seenEnd) {
    if (begin < seenBegin || end - begin > seenEnd - seenBegin) return begin;
    return end > seenEnd ? seenBegin + end - seenEnd : seenBegin;
  };
  scrollTo({shifted(wanted.left(), wanted.right(), seen.left(), seen.right()),
            shifted(wanted.top(), wanted.bottom(), seen.top(), seen.bottom())});
}

void PaintedScroll::keepVisible(std::function<void()> reveal) {
  m_reveal = std::move(reveal);
  if (m_reveal) m_reveal();
}

void PaintedScroll::paintWhole(QPainter& painter, const QSize& size) {
  const QSize content = contentSize().expandedTo(QSize(1, 1));
  const double scale =
      std::min({double(size.width()) / content.width(), double(size.height()) / content.height()});
  painter.save();
  painter.fillRect(QRect(QPoint(), size), m_theme.color(Role::Surface));
  painter.scale(scale, scale);
  m_exporting = true;
  paintContent(painter, QRect(QPoint(), content));
  m_exporting = false;
  painter.restore();
}

void PaintedScroll::contentChanged() {
  updateBars();
  viewport()->update();
}

void PaintedScroll::paintFixed(QPainter& /*painter*/) {}

void PaintedScroll::paintEvent(QPaintEvent* event) {
  QPainter painter(viewport());
  painter.fillRect(event->rect(), m_theme.color(Role::Surface));
  painter.save();
  painter.scale(m_scale, m_scale);
  painter.save();
  painter.translate(-offset());
  const QRect painted = m_scale == 1 ? event->rect() : QRect(QPoint(), seenSize());
  paintContent(painter, painted.translated(offset()));
  painter.restore();
  paintFixed(painter);
  painter.restore();
  if (!hasFocus()) return;
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(QPen(m_theme.color(Role::Accent), 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
}

void PaintedScroll::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  updateBars();
  if (m_reveal) m_reveal();
}

void PaintedScroll::updateBars() {
  const QSize content = contentSize();
  const QSize seen = seenSize();
  horizontalScrollBar()->setPageStep(seen.width());
  horizontalScrollBar()->setRange(0, std::max(0, content.width() - seen.width()));
  verticalScrollBar()->setPageStep(seen.height());
  verticalScrollBar()->setRange(0, std::max(0, content.height() - seen.height()));
}

void PaintedScroll::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton && event->button() != Qt::RightButton) {
    QAbstractScrollArea::mousePressEvent(event);
    return;
  }
  pressed(inContent(event->position().toPoint()));
}

bool PaintedScroll::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = tipAt(inContent(help->pos()));
    if (tip.isEmpty()) {
      QToolTip::hideText();
    } else {
      QToolTip::showText(help->globalPos(), tip, viewport());
    }
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void PaintedScroll::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void PaintedScroll::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

void ZoomedScroll::wheelEvent(QWheelEvent* event) {
  if (!event->modifiers().testFlag(Qt::ControlModifier)) {
    PaintedScroll::wheelEvent(event);
    return;
  }
  if (event->angleDelta().y() != 0) zoom(event->angleDelta().y() > 0 ? 1 : -1);
  event->accept();
}

void ZoomedScroll::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom(1);
      break;
    case Qt::Key_Minus:
      zoom(-1);
      break;
    case Qt::Key_0:
      zoomToFit();
      break;
    default:
      PaintedScroll::keyPressEvent(event);
  }
}

}  // namespace spanscope::ui
