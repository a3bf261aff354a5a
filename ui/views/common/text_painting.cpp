// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/text_painting.h"

#include "ui/theme/pattern_painting.h"

#include <QColor>
#include <QFontMetrics>
#include <QPainter>
#include <QRect>
#include <QRectF>
#include <QString>

namespace spanscope::ui {

void paintTextAtTop(QPainter& painter, QRect& area, const QString& text, const Theme& theme, Role ink) {
  constexpr int kFlags = Qt::TextWordWrap | Qt::AlignLeft | Qt::AlignTop;
  constexpr int kTallest = 1000;
  const QFontMetrics metrics(theme.smallFont());
  const int height = metrics.boundingRect(QRect(0, 0, area.width(), kTallest), kFlags, text).height();
  painter.setFont(theme.smallFont());
  painter.setPen(theme.color(ink));
  painter.drawText(QRect(area.left(), area.top(), area.width(), height + 2), kFlags, text);
  area.setTop(area.top() + height + kSpace);
}

void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme) {
  painter.setFont(theme.interfaceFont());
  painter.setPen(theme.color(Role::TextThird));
  painter.drawText(area.adjusted(4 * kSpace, kSpace, -4 * kSpace, -kSpace),
                   Qt::AlignCenter | Qt::TextWordWrap, text);
}

void fillWithHue(QPainter& painter, const QRectF& area, const Theme& theme, const QColor& color,
                 std::size_t hue) {
  painter.fillRect(area, color);
  const QBrush pattern = theme.segmentPattern(hue);
  if (pattern.style() == Qt::NoBrush) return;
  const QPoint origin = painter.brushOrigin();
  painter.setBrushOrigin(area.topLeft() - QPointF(1, 1));
  fillPattern(painter, area, pattern);
  painter.setBrushOrigin(origin);
}

}  // namespace spanscope::ui
