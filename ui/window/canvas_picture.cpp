// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/canvas_picture.h"

#include "ui/document/document_model.h"
#include "ui/editor/canvas.h"
#include "ui/words/tr.h"

namespace spanscope::ui {

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
