// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/system_motion.h"

#include "ui/theme/portal_setting.h"

#include <QElapsedTimer>

namespace spanscope::ui {
namespace {

bool askDesktop() {
  const QVariant reduced =
      portalSetting(QStringLiteral("org.freedesktop.appearance"), QStringLiteral("reduced-motion"));
  if (reduced.isValid() && reduced.toUInt() == 1) return false;
  const QVariant animates =
      portalSetting(QStringLiteral("org.gnome.desktop.interface"), QStringLiteral("enable-animations"));
  return !animates.isValid() || animates.toBool();
}

}  // namespace

bool desktopAllowsMotion() {
  constexpr qint64 kCounts = 5'000;  // milliseconds
  static QElapsedTimer asked;
  static bool allowed = true;
  if (asked.isValid() && asked.elapsed() < kCounts) return allowed;
  allowed = askDesktop();
  asked.start();
  return allowed;
}

}  // namespace spanscope::ui
