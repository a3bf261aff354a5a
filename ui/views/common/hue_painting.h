// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <cstddef>

class QColor;
class QPainter;
class QRectF;

namespace spanscope::ui {

/// Fills an area with a colour of a segment, its ink or its tint, and over it the pattern that tells hues
/// beyond the palette from those they repeat. It begins at the area's corner, so that lines of two pixels
/// have a part of it as well.
void fillWithHue(QPainter& painter, const QRectF& area, const Theme& theme, const QColor& color,
                 std::size_t hue);

}  // namespace spanscope::ui
