// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/key_caps.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>

namespace spanscope::ui {

double keyCapWidth(const QString& key, const Theme& theme) {
  return std::max(kKeyCapHeight, std::ceil(QFontMetricsF(theme.monoFont()).horizontalAdvance(key)) + 12);
}

void paintKeyCap(QPainter& painter, double left, double middle, const QString& key, const Theme& theme) {
  const QRectF cap(left, middle - kKeyCapHeight / 2, keyCapWidth(key, theme), kKeyCapHeight);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.color(Role::Outline), 1));
  painter.setBrush(theme.color(Role::Canvas));
  painter.drawRoundedRect(cap.adjusted(0.5, 0.5, -0.5, -0.5), kSpace, kSpace);
  painter.setFont(theme.monoFont());
  painter.setPen(theme.color(Role::TextSecond));
  painter.drawText(cap, Qt::AlignCenter, key);
  painter.restore();
}

}  // namespace spanscope::ui
