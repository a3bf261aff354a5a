// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/export/view_picture.h"

namespace spanscope::ui {

class MainWindow;

/// The whole window as it stands, in whatever theme is asked for, without dialogs and docks that float. The
/// window must outlive it.
ExportItem windowItem(MainWindow& window);

}  // namespace spanscope::ui
