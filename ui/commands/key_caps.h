// SPDX-License-Identifier: GPL-3.0-or-later
// Paints keys as key caps, for the command palette and the key sheet.
#pragma once

#include "ui/theme/theme.h"

#include <QPainter>
#include <QRectF>
#include <QString>

namespace spanscope::ui {

inline constexpr double kKeyCapHeight = 20;  ///< pixels

double keyCapWidth(const QString& key, const Theme& theme);
/// Paints a key cap with its left edge at `left`, vertically centred on `middle`.
void paintKeyCap(QPainter& painter, double left, double middle, const QString& key, const Theme& theme);

}  // namespace spanscope::ui
