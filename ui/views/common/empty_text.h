// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QString>

class QPainter;
class QRect;

namespace spanscope::ui {

/// The sentence that an empty view shows, in its middle.
void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme);

}  // namespace spanscope::ui
