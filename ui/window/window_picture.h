// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/export/view_picture.h"
#include "ui/session/view_input.h"

#include <QSize>

namespace spanscope::ui {

class MainWindow;

/// An item for the whole window in its current state, without dialogs and floating docks. The item can be
/// painted in any theme. The window must outlive the item.
ExportItem windowItem(MainWindow& window);

/// An item for the canvas with this input. The item can be painted in any theme. Each painting makes a new
/// canvas, so that the canvas on the screen does not change.
ExportItem canvasItem(const ViewInput& input, const QSize& size);

}  // namespace spanscope::ui
