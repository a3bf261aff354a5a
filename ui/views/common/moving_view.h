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

/// Interface of views that show motion between two events. The content depends only on input and moment.
/// Exports show the input without motion.
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
  /// Shows the input without motion, and drops data that was prepared for moments between the same events.
  virtual void stopMotion() = 0;
  /// Shows the moment, if the moment belongs to the current input.
  virtual void showMotion() = 0;

 private:
  const QWidget* m_self;
  Moment m_moment;
};

// Functions that paint a state between two states of a view.

/// Paints a block whose look changes: the later look rises from the bottom. `done`: 0 … 1.
void paintBetween(QPainter& painter, const BlockPainter& blocks, const QRect& place, const BlockLook& before,
                  const BlockLook& after, double done);

/// A point on the curve from one centre to the other. The curve begins and ends vertically.
QPoint onTheWay(const QPoint& from, const QPoint& to, double done);

/// Writes a note beside a moving item, in a box that stays inside `bounds`.
void paintMotionNote(QPainter& painter, const Theme& theme, const QRect& mover, const QRect& bounds,
                     const QString& text, const QColor& ink);

}  // namespace spanscope::ui
