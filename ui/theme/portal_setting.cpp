// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/theme/portal_setting.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusVariant>

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

}  // namespace spanscope::ui
