// SPDX-License-Identifier: GPL-3.0-or-later
// Paints sentences, for pictures of views that show them in labels.
#pragma once

#include "ui/theme/theme.h"

#include <QString>

#include <cstddef>

class QColor;
class QPainter;
class QRect;
class QRectF;
class QString;

namespace spanscope::ui {

/// Paints a text at the top of the area in the small font, wrapped, and takes its height and a space off the
/// area.
void paintTextAtTop(QPainter& painter, QRect& area, const QString& text, const Theme& theme, Role ink);

/// Paints the sentence of an empty view in the middle of `area`.
void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme);

/// Fills an area with a colour of a segment, its ink or its tint. Hues beyond the palette repeat its colours,
/// so their fill also gets a pattern that tells them apart. The pattern begins at the area's corner, so that
/// even lines of two pixels show a part of it.
void fillWithHue(QPainter& painter, const QRectF& area, const Theme& theme, const QColor& color,
                 std::size_t hue);

}  // namespace spanscope::ui
