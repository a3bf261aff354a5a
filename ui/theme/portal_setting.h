// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVariant>

namespace spanscope::ui {

/// A setting that the desktop's portal tells over D-Bus; invalid: it does not tell it. A desktop that does
/// not answer holds the program up for a quarter of a second.
QVariant portalSetting(const QString& space, const QString& key);

}  // namespace spanscope::ui
