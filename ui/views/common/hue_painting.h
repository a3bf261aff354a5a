// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <cstddef>

class QColor;
class QPainter;
class QRectF;

namespace spanscope::ui {

/// Fills an area with a colour of a segment, its ink or its tint. Hues beyond the palette repeat its colours,
/// so their fill also gets a pattern that tells them apart. The pattern begins at the area's corner, so that
/// even lines of two pixels show a part of it.
void fillWithHue(QPainter& painter, const QRectF& area, const Theme& theme, const QColor& color,
                 std::size_t hue);

}  // namespace spanscope::ui
