// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/view.h"

#include <QPainter>

#include <algorithm>

namespace spanscope::ui {

void View::paintTo(QPainter& painter, const QSize& size) {
  const double scale =
      std::min(double(size.width()) / std::max(1, width()), double(size.height()) / std::max(1, height()));
  painter.save();
  painter.scale(scale, scale);
  render(&painter, QPoint(), QRegion(), QWidget::DrawWindowBackground | QWidget::DrawChildren);
  painter.restore();
}

}  // namespace spanscope::ui
