// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/common/painted_scroll.h"

namespace spanscope::ui {

/// A painted area whose cells have sizes: + and − and the wheel with Ctrl go through them, 0 takes the
/// largest that fits.
class ZoomedScroll : public PaintedScroll {
  Q_OBJECT
 public:
  using PaintedScroll::PaintedScroll;

 protected:
  /// So many sizes up, or down where it is negative; ends at the last one.
  virtual void zoom(int steps) = 0;
  virtual void zoomToFit() = 0;

  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
};

}  // namespace spanscope::ui
