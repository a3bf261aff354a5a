// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::ui {

/// Installs a handler that writes Qt's messages to standard error as usual, except one. The platform without
/// a display repeats this message for every window: it does not support size hints. There the message is
/// meaningless.
void installMessageHandler();

}  // namespace spanscope::ui
