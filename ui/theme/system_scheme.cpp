// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/theme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QGuiApplication>
#include <QVariant>

namespace spanscope::ui {
namespace {

constexpr int kPortalTimeout = 250;  // milliseconds: a start may not hang on a desktop that does not answer

/// The value within the variants that D-Bus wraps around it.
QVariant unwrapped(QVariant value) {
  while (value.canConvert<QDBusVariant>()) value = value.value<QDBusVariant>().variant();
  return value;
}

}  // namespace

Scheme systemScheme() {
  const QDBusConnection bus = QDBusConnection::sessionBus();
  if (bus.isConnected()) {
    QDBusMessage call = QDBusMessage::createMethodCall(
        QStringLiteral("org.freedesktop.portal.Desktop"), QStringLiteral("/org/freedesktop/portal/desktop"),
        QStringLiteral("org.freedesktop.portal.Settings"), QStringLiteral("Read"));
    call << QStringLiteral("org.freedesktop.appearance") << QStringLiteral("color-scheme");
    const QDBusMessage reply = bus.call(call, QDBus::Block, kPortalTimeout);
    if (reply.type() == QDBusMessage::ReplyMessage && !reply.arguments().isEmpty()) {
      constexpr unsigned kPreferDark = 1;
      constexpr unsigned kPreferLight = 2;
      const unsigned scheme = unwrapped(reply.arguments().constFirst()).toUInt();
      if (scheme == kPreferDark) return Scheme::Dark;
      if (scheme == kPreferLight) return Scheme::Light;
    }
  }
  return QGuiApplication::palette().color(QPalette::Window).lightness() < 128 ? Scheme::Dark : Scheme::Light;
}

}  // namespace spanscope::ui
