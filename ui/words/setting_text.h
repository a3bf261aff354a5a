// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QString>

namespace spanscope::ui {

/// Translates a text of the engine's list of settings.
inline QString settingText(const char* text) {
  return *text == '\0' ? QString() : QCoreApplication::translate("spanscope::workbench", text);
}

}  // namespace spanscope::ui
