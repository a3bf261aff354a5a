// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/desktop_settings.h"

#include "ui/theme/theme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QElapsedTimer>
#include <QGuiApplication>

namespace spanscope::ui {

QVariant portalSetting(const QString& space, const QString& key) {
  constexpr int kTimeout = 250;  // milliseconds
  const QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return {};
  QDBusMessage call = QDBusMessage::createMethodCall(
      QStringLiteral("org.freedesktop.portal.Desktop"), QStringLiteral("/org/freedesktop/portal/desktop"),
      QStringLiteral("org.freedesktop.portal.Settings"), QStringLiteral("Read"));
  call << space << key;
  const QDBusMessage reply = bus.call(call, QDBus::Block, kTimeout);
  if (reply.type() != QDBusMessage::ReplyMessage || reply.arguments().isEmpty()) return {};
  // D-Bus wraps variants around the value.
  QVariant value = reply.arguments().constFirst();
  while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
  return value;
}

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
