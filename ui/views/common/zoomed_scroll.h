// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/views/common/painted_scroll.h"

namespace spanscope::ui {

/// A painted scroll area whose cells have several sizes. The keys + and −, and the wheel with Ctrl, go
/// through the sizes. The key 0 chooses the largest size that fits.
class ZoomedScroll : public PaintedScroll {
  Q_OBJECT
 public:
  using PaintedScroll::PaintedScroll;

 protected:
  /// Goes `steps` sizes up, or down if `steps` is negative, but not beyond the last size.
  virtual void zoom(int steps) = 0;
  virtual void zoomToFit() = 0;

  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
};

}  // namespace spanscope::ui
