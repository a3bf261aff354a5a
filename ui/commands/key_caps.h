// SPDX-License-Identifier: GPL-3.0-or-later
// Keys drawn as caps, as the command palette and the key sheet show them.
#pragma once

#include "ui/theme/theme.h"

#include <QPainter>
#include <QRectF>
#include <QString>

namespace spanscope::ui {

inline constexpr double kKeyCapHeight = 20;  ///< pixels

double keyCapWidth(const QString& key, const Theme& theme);
/// With its left edge at `left`, centred on `middle`.
void paintKeyCap(QPainter& painter, double left, double middle, const QString& key, const Theme& theme);

}  // namespace spanscope::ui
