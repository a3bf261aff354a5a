// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/portal_setting.h"
#include "ui/theme/theme.h"

#include <QGuiApplication>

namespace spanscope::ui {

Scheme systemScheme() {
  constexpr unsigned kPreferDark = 1;
  constexpr unsigned kPreferLight = 2;
  const QVariant told =
      portalSetting(QStringLiteral("org.freedesktop.appearance"), QStringLiteral("color-scheme"));
  if (told.isValid() && told.toUInt() == kPreferDark) return Scheme::Dark;
  if (told.isValid() && told.toUInt() == kPreferLight) return Scheme::Light;
  return QGuiApplication::palette().color(QPalette::Window).lightness() < 128 ? Scheme::Dark : Scheme::Light;
}

}  // namespace spanscope::ui
