// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/export/view_picture.h"

namespace spanscope::ui {

class MainWindow;

/// The whole window as it is now, to be painted in any theme, without dialogs and floating docks. The window
/// must outlive the item.
ExportItem windowItem(MainWindow& window);

}  // namespace spanscope::ui
