// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVariant>

namespace spanscope::ui {

/// A setting that the desktop's portal tells over D-Bus; invalid: it does not tell it. A desktop that does
/// not answer holds the program up for a quarter of a second.
QVariant portalSetting(const QString& space, const QString& key);

/// Whether the desktop lets pictures move. Its portal tells it over D-Bus: org.freedesktop.appearance
/// reduced-motion, or GNOME's org.gnome.desktop.interface enable-animations. Where neither is told, they may
/// move. What was told counts for a few seconds, because this is asked at every move of a mouse.
bool desktopAllowsMotion();

}  // namespace spanscope::ui
