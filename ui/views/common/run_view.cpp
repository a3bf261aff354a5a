// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/run_view.h"

#include "ui/views/common/empty_text.h"

#include <QPainter>

namespace spanscope::ui {

bool RunView::paintIfEmpty(QPainter& painter, const QSize& size) const {
  const QString text = emptyText();
  if (text.isEmpty()) return false;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  paintEmptyText(painter, area, text, theme());
  return true;
}

void RunView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (!paintIfEmpty(painter, size())) painter.fillRect(rect(), theme().color(Role::Surface));
}

}  // namespace spanscope::ui
