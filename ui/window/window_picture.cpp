// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_picture.h"

#include "ui/document/document_model.h"
#include "ui/editor/canvas.h"
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

ExportItem canvasItem(const ViewInput& input, const QSize& size) {
  return {.id = QStringLiteral("canvas"),
          .title = tr("Canvas"),
          .size = size,
          .paint =
              [input](QPainter& painter, const QSize& wanted, const Theme& theme) {
                DocumentModel model(*input.document);
                Canvas canvas;
                ViewInput shown = input;
                shown.theme = theme;
                canvas.setModel(&model);
                canvas.setInput(shown);
                canvas.paintTo(painter, wanted);
              },
          .csv = {}};
}

}  // namespace spanscope::ui
