// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/empty_text.h"

#include <QPainter>

namespace spanscope::ui {

void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme) {
  painter.setFont(theme.interfaceFont());
  painter.setPen(theme.color(Role::TextThird));
  painter.drawText(area.adjusted(4 * kSpace, kSpace, -4 * kSpace, -kSpace),
                   Qt::AlignCenter | Qt::TextWordWrap, text);
}

}  // namespace spanscope::ui
