// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/text_painting.h"

#include <QFontMetrics>
#include <QPainter>
#include <QRect>
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

}  // namespace spanscope::ui
