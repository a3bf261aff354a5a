// SPDX-License-Identifier: GPL-3.0-or-later
// Paints what is between two states of a view.
#pragma once

#include "ui/views/common/block_painter.h"

#include <QColor>
#include <QPainter>
#include <QPoint>
#include <QRect>
#include <QString>

namespace spanscope::ui {

/// Paints a block that becomes another: the later look rises from the bottom. `done`: 0 … 1.
void paintBetween(QPainter& painter, const BlockPainter& blocks, const QRect& place, const BlockLook& before,
                  const BlockLook& after, double done);

/// A place on the way from one centre to the other, in a curve that leaves and arrives upright.
QPoint onTheWay(const QPoint& from, const QPoint& to, double done);

/// Writes a note beside something that moves, in a box that stays inside `bounds`.
void paintMotionNote(QPainter& painter, const Theme& theme, const QRect& mover, const QRect& bounds,
                     const QString& text, const QColor& ink);

}  // namespace spanscope::ui
