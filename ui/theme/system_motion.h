// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace spanscope::ui {

/// Whether the desktop lets pictures move. Its portal tells it over D-Bus: org.freedesktop.appearance
/// reduced-motion, or GNOME's org.gnome.desktop.interface enable-animations. Where neither is told, they may
/// move. What was told counts for a few seconds, because this is asked at every move of a mouse.
bool desktopAllowsMotion();

}  // namespace spanscope::ui
