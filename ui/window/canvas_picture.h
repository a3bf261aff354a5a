// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/export/view_picture.h"
#include "ui/session/view_input.h"

#include <QSize>

namespace spanscope::ui {

/// The canvas with this input, in whatever theme is asked for. Makes a canvas of its own each time, so that
/// what is on the screen stays as it is.
ExportItem canvasItem(const ViewInput& input, const QSize& size);

}  // namespace spanscope::ui
