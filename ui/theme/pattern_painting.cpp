// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/pattern_painting.h"

#include <QImage>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr double kSharpness = 4;      ///< pixels of a picture for each pixel of the screen
constexpr double kMostPixels = 4096;  ///< along one side of a picture

QImage patternImage(const QPainterPath& shape, const QRectF& area, const QBrush& pattern,
                    const QPointF& origin) {
  // Built-in patterns of Qt have a fixed size in device pixels, at any scale.
  const double sharpness = pattern.style() == Qt::TexturePattern ? kSharpness : 1;
  const double scale = std::min(sharpness, kMostPixels / std::max(area.width(), area.height()));
  QImage image((area.size() * scale).toSize().expandedTo({1, 1}), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHints(QPainter::Antialiasing | QPainter::SmoothPixmapTransform);
  painter.scale(image.width() / area.width(), image.height() / area.height());
  painter.translate(-area.topLeft());
  painter.setBrushOrigin(origin);
  painter.fillPath(shape, pattern);
  return image;
}

}  // namespace

bool paintsVectors(const QPainter& painter) {
  return painter.paintEngine()->type() == QPaintEngine::SVG;
}

void fillPattern(QPainter& painter, const QPainterPath& shape, const QBrush& pattern) {
  const QRectF area = shape.boundingRect();
  if (pattern.style() == Qt::NoBrush || area.isEmpty()) return;
  if (!paintsVectors(painter)) return painter.fillPath(shape, pattern);
  painter.drawImage(area, patternImage(shape, area, pattern, painter.brushOrigin()));
}

void fillPattern(QPainter& painter, const QRectF& area, const QBrush& pattern, double radius) {
  if (pattern.style() == Qt::NoBrush || area.isEmpty()) return;
  if (!paintsVectors(painter) && radius <= 0) return painter.fillRect(area, pattern);
  QPainterPath shape;
  shape.addRoundedRect(area, radius, radius);
  fillPattern(painter, shape, pattern);
}

}  // namespace spanscope::ui
