// SPDX-License-Identifier: GPL-3.0-or-later
// Translates texts for the user in code outside of classes with their own tr(). lupdate uses the context
// "spanscope::ui" for a tr() in this namespace. Every text must be a literal in the call.
#pragma once

#include <QCoreApplication>
#include <QString>

namespace spanscope::ui {

/// Translates a text. `n` is the number for %n.
inline QString tr(const char* text, int n = -1) {
  return QCoreApplication::translate("spanscope::ui", text, nullptr, n);
}

}  // namespace spanscope::ui
