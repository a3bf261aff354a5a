// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the patterns by which states and segments are told apart besides their colours.
#pragma once

#include <QBrush>
#include <QRectF>

class QPainter;
class QPainterPath;

namespace spanscope::ui {

/// Whether the painter writes a file of vectors (SVG), whose device passes over all brushes with patterns.
bool paintsVectors(const QPainter& painter);

/// Fills a shape with a pattern from the painter's brush origin on, without an outline. In a file of vectors
/// the pattern is a picture. Without a pattern it paints nothing.
void fillPattern(QPainter& painter, const QPainterPath& shape, const QBrush& pattern);
/// The same for an area, with round corners of a radius in pixels.
void fillPattern(QPainter& painter, const QRectF& area, const QBrush& pattern, double radius = 0);

}  // namespace spanscope::ui
