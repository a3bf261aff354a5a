// SPDX-License-Identifier: GPL-3.0-or-later
// Paints views without a window, for exported pictures, `--screenshot` and tests of pictures.
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

/// Something that can be exported, such as a view or the canvas.
struct ExportItem {
  QString id;  ///< beginning of the file name
  QString title;
  QSize size;  ///< its size in the window
  std::function<void(QPainter&, const QSize&, const Theme&)> paint;
  std::function<QString()> csv;  ///< none, or it returns an empty text: there is no table to export
  bool isWindow = false;         ///< it is painted as it is on the screen, whatever the size of its type
};

/// A view from the table of views with this input, to be painted in any theme. Each painting makes a new
/// view, so that the view on the screen does not change.
ExportItem exportItem(const ViewInfo& info, const ViewInput& input, const QSize& size);

/// The input for an exported picture of this view, or of the canvas: nothing in it is selected, because a
/// picture shows what is there, not what the user is about to do with it. It shows the same request. Views
/// that show nothing but the selected node, block or token keep the selection.
ViewInput inputForPicture(const QString& id, const ViewInput& input);

/// The size for a picture of the item: its own, or larger if its type would otherwise be smaller than the
/// window's smallest. The item is painted for it several times.
QSize pictureSize(const ExportItem& item);

/// Paints the item into an image of `size` × `scale` pixels. `scale` is at least 1.
QImage renderItem(const ExportItem& item, const QSize& size, const Theme& theme, double scale = 1);

}  // namespace spanscope::ui
