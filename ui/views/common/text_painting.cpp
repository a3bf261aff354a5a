// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/text_painting.h"

#include "ui/theme/pattern_painting.h"

#include <QColor>
#include <QFontMetrics>
#include <QPainter>
#include <QRect>
#include <QRectF>
#include <QSize>
#include <QString>
#include <QStringList>

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

QString textThatFits(const QString& text, const QSize& room, const QFontMetrics& metrics) {
  constexpr int kTallest = 10000;
  const auto fits = [&](const QString& part) {
    const QRect needed =
        metrics.boundingRect(QRect(0, 0, room.width(), kTallest), Qt::AlignCenter | Qt::TextWordWrap, part);
    return needed.height() <= room.height() && needed.width() <= room.width();
  };
  if (fits(text)) return text;
  const QStringList words = text.split(QLatin1Char(' '));
  const auto firstWords = [&words](qsizetype count) {
    return words.mid(0, count).join(QLatin1Char(' ')) + QChar(0x2026);
  };
  qsizetype fitting = 0;
  qsizetype tooMany = words.size();
  while (fitting + 1 < tooMany) {
    const qsizetype middle = (fitting + tooMany) / 2;
    (fits(firstWords(middle)) ? fitting : tooMany) = middle;
  }
  return fitting == 0 ? QString() : firstWords(fitting);
}

void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme) {
  painter.setFont(theme.interfaceFont());
  painter.setPen(theme.color(Role::TextThird));
  const QRect room = area.adjusted(4 * kSpace, kSpace, -4 * kSpace, -kSpace);
  painter.drawText(room, Qt::AlignCenter | Qt::TextWordWrap,
                   textThatFits(text, room.size(), QFontMetrics(theme.interfaceFont())));
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
