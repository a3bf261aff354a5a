// SPDX-License-Identifier: GPL-3.0-or-later
// Paints texts and segment colours, for pictures of views and for empty views.
#pragma once

#include "ui/theme/theme.h"

#include <QString>

#include <cstddef>

class QColor;
class QFontMetrics;
class QPainter;
class QRect;
class QRectF;
class QSize;
class QString;

namespace spanscope::ui {

/// Paints a wrapped text in the small font at the top of the area. Removes the text's height and a space from
/// the area.
void paintTextAtTop(QPainter& painter, QRect& area, const QString& text, const Theme& theme, Role ink);

/// Returns the words of a wrapped text that fit into the room as whole lines. A shortened text ends in an
/// ellipsis. The result is empty without room for a line.
QString textThatFits(const QString& text, const QSize& room, const QFontMetrics& metrics);

/// Paints the sentence of an empty view in the middle of `area`. No line is cut: see textThatFits().
void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme);

/// Fills an area with the ink or tint of a segment. Hues beyond the palette repeat its colours, so their fill
/// also has a pattern. The pattern begins at the area's corner, so it is visible even in lines of two pixels.
void fillWithHue(QPainter& painter, const QRectF& area, const Theme& theme, const QColor& color,
                 std::size_t hue);

}  // namespace spanscope::ui
