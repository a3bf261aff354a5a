// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QString>

namespace spanscope::ui {

/// A text of the engine's list of settings in the person's language.
inline QString settingText(const char* text) {
  return *text == '\0' ? QString() : QCoreApplication::translate("spanscope::workbench", text);
}

}  // namespace spanscope::ui
