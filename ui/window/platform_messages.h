// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::ui {

/// Installs a handler that writes Qt's messages to standard error as usual, except one message. The platform
/// without a display repeats this message for every window. The message states that the platform does not
/// support size hints, which is meaningless without a display.
void installMessageHandler();

}  // namespace spanscope::ui
