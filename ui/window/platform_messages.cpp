// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/platform_messages.h"

#include <QByteArray>
#include <QString>
#include <QtGlobal>

#include <cstdio>

namespace spanscope::ui {
namespace {

void writeMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
  if (text == QLatin1String("This plugin does not support propagateSizeHints()")) return;
  const QByteArray line = qFormatLogMessage(type, context, text).toLocal8Bit();
  std::fprintf(stderr, "%s\n", line.constData());
  std::fflush(stderr);
}

}  // namespace

void installMessageHandler() {
  qInstallMessageHandler(writeMessage);
}

}  // namespace spanscope::ui
