// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::ui {

/// Has Qt's messages written to standard error as ever, but for one that the platform without a display
/// repeats for every window and that means nothing there: it has no hints of size to pass on.
void installMessageHandler();

}  // namespace spanscope::ui
