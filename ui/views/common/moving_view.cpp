// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/moving_view.h"

#include <QFontMetrics>
#include <QWidget>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

void MovingView::setMoment(const Moment& moment) {
  if (moment.first != m_moment.first || moment.last != m_moment.last) stopMotion();
  m_moment = moment;
  if (m_self->isVisible()) showMotion();
}

void paintBetween(QPainter& painter, const BlockPainter& blocks, const QRect& place, const BlockLook& before,
                  const BlockLook& after, double done) {
  blocks.stamp(painter, place, before);
  const int height = static_cast<int>(std::lround(place.height() * std::clamp(done, 0.0, 1.0)));
  if (height == 0) return;
  painter.save();
  painter.setClipRect(QRect(place.left(), place.bottom() + 1 - height, place.width(), height),
                      Qt::IntersectClip);
  blocks.stamp(painter, place, after);
  painter.restore();
}

QPoint onTheWay(const QPoint& from, const QPoint& to, double done) {
  // A cubic curve with handles at half the height, like the links between rows.
  const double t = std::clamp(done, 0.0, 1.0);
  const double middle = (from.y() + to.y()) / 2.0;
  const double a = (1 - t) * (1 - t) * (1 - t);
  const double b = 3 * (1 - t) * (1 - t) * t;
  const double c = 3 * (1 - t) * t * t;
  const double d = t * t * t;
  return {static_cast<int>(std::lround((a + b) * from.x() + (c + d) * to.x())),
          static_cast<int>(std::lround(a * from.y() + (b + c) * middle + d * to.y()))};
}

void paintMotionNote(QPainter& painter, const Theme& theme, const QRect& mover, const QRect& bounds,
                     const QString& text, const QColor& ink) {
  painter.save();
  const QFont font = theme.smallFont();
  const QFontMetrics metrics(font);
  QRect box(0, 0, metrics.horizontalAdvance(text) + 3 * kSpace, metrics.height() + kSpace);
  box.moveBottomLeft(mover.topLeft() - QPoint(0, kSpace));
  if (box.top() < bounds.top()) box.moveTop(mover.bottom() + kSpace);
  if (box.right() > bounds.right()) box.moveRight(bounds.right());
  if (box.left() < bounds.left()) box.moveLeft(bounds.left());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(ink, 1));
  painter.setBrush(theme.color(Role::Surface));
  painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
  painter.setFont(font);
  painter.setPen(ink);
  painter.drawText(box, Qt::AlignCenter, text);
  painter.restore();
}

}  // namespace spanscope::ui
