// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/hue_painting.h"

#include "ui/theme/pattern_painting.h"

#include <QColor>
#include <QPainter>
#include <QRectF>

namespace spanscope::ui {

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
