// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::ui {

/// Installs a handler that writes Qt's messages to standard error as usual, except one. The platform without
/// a display repeats that message for every window: it cannot pass on hints of size. It means nothing there.
void installMessageHandler();

}  // namespace spanscope::ui
