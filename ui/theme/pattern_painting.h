// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the patterns of states and segments. With patterns, users can distinguish states and segments
// without colours.
#pragma once

#include <QBrush>
#include <QRectF>

class QPainter;
class QPainterPath;

namespace spanscope::ui {

/// Whether the painter writes a vector file (SVG). Qt's SVG device ignores brushes with patterns.
bool paintsVectors(const QPainter& painter);

/// Fills a shape with a pattern, without an outline. The pattern starts at the painter's brush origin. In a
/// vector file the pattern is a picture. Paints nothing if `pattern` is empty.
void fillPattern(QPainter& painter, const QPainterPath& shape, const QBrush& pattern);
/// Does the same for a rectangle with round corners. `radius` is in pixels.
void fillPattern(QPainter& painter, const QRectF& area, const QBrush& pattern, double radius = 0);

}  // namespace spanscope::ui
