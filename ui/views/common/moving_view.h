// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/moment.h"
#include "ui/views/common/block_painter.h"

#include <QColor>
#include <QPainter>
#include <QPoint>
#include <QRect>
#include <QString>

class QWidget;

namespace spanscope::ui {

/// A view that shows what happens between two events. It is a function of input and moment; what it exports
/// shows the input alone.
class MovingView {
 public:
  virtual ~MovingView() = default;
  MovingView(const MovingView&) = delete;
  MovingView& operator=(const MovingView&) = delete;

  void setMoment(const Moment& moment);

 protected:
  /// `self`: the view.
  explicit MovingView(const QWidget* self) : m_self(self) {}

  const Moment& moment() const { return m_moment; }
  /// Shows the input at rest, and forgets what was prepared for other moments between the same events.
  virtual void stopMotion() = 0;
  /// Shows the moment, if it is one of the present input.
  virtual void showMotion() = 0;

 private:
  const QWidget* m_self;
  Moment m_moment;
};

// Paints what is between two states of a view.

/// Paints a block that becomes another: the later look rises from the bottom. `done`: 0 … 1.
void paintBetween(QPainter& painter, const BlockPainter& blocks, const QRect& place, const BlockLook& before,
                  const BlockLook& after, double done);

/// A place on the way from one centre to the other, in a curve that leaves and arrives upright.
QPoint onTheWay(const QPoint& from, const QPoint& to, double done);

/// Writes a note beside something that moves, in a box that stays inside `bounds`.
void paintMotionNote(QPainter& painter, const Theme& theme, const QRect& mover, const QRect& bounds,
                     const QString& text, const QColor& ink);

}  // namespace spanscope::ui
