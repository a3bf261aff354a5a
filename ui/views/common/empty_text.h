// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"

#include <QString>

class QPainter;
class QRect;

namespace spanscope::ui {

/// Paints the sentence of an empty view in the middle of `area`.
void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme);

}  // namespace spanscope::ui
