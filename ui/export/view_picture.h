// SPDX-License-Identifier: GPL-3.0-or-later
// Views without a window: for pictures, for `--screenshot`, for tests that look.
#pragma once

#include "ui/export/view_export.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/view.h"

#include <QImage>
#include <QSize>
#include <QString>

#include <functional>

namespace spanscope::ui {

/// Something that can be exported: a view, the canvas.
struct ExportItem {
  QString id;  ///< for the file name
  QString title;
  QSize size;  ///< as it stands in the window
  std::function<void(QPainter&, const QSize&, const Theme&)> paint;
  std::function<QString()> csv;  ///< none, or gives an empty text: nothing to export as a table
};

/// A view of the table with this input, in whatever theme is asked for. Makes a view of its own each time, so
/// that what is on the screen stays as it is.
ExportItem exportItem(const ViewInfo& info, const ViewInput& input, const QSize& size);

/// The item as an image of `size` × `scale` pixels; `scale` is 1 or more.
QImage renderItem(const ExportItem& item, const QSize& size, const Theme& theme, double scale = 1);

}  // namespace spanscope::ui
