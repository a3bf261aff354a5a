// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_picture.h"

#include "ui/window/main_window.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {

ExportItem windowItem(MainWindow& window) {
  return {.id = QStringLiteral("window"),
          .title = tr("Whole window"),
          .size = window.size(),
          .paint =
              [&window](QPainter& painter, const QSize& wanted, const Theme& theme) {
                const Scheme before = window.scheme();
                window.setUpdatesEnabled(false);
                if (theme.scheme() != before) window.setScheme(theme.scheme());
                const QSize size = window.size();
                const double scale = std::min(static_cast<double>(wanted.width()) / size.width(),
                                              static_cast<double>(wanted.height()) / size.height());
                painter.save();
                painter.scale(scale, scale);
                window.render(&painter);
                painter.restore();
                if (theme.scheme() != before) window.setScheme(before);
                window.setUpdatesEnabled(true);
              },
          .csv = {},
          .isWindow = true};
}

}  // namespace spanscope::ui
