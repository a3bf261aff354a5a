// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/zoomed_scroll.h"

#include <QKeyEvent>
#include <QWheelEvent>

namespace spanscope::ui {

void ZoomedScroll::wheelEvent(QWheelEvent* event) {
  if (!event->modifiers().testFlag(Qt::ControlModifier)) {
    PaintedScroll::wheelEvent(event);
    return;
  }
  if (event->angleDelta().y() != 0) zoom(event->angleDelta().y() > 0 ? 1 : -1);
  event->accept();
}

void ZoomedScroll::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom(1);
      break;
    case Qt::Key_Minus:
      zoom(-1);
      break;
    case Qt::Key_0:
      zoomToFit();
      break;
    default:
      PaintedScroll::keyPressEvent(event);
  }
}

}  // namespace spanscope::ui
