// SPDX-License-Identifier: GPL-3.0-or-later
// Translates texts for people, where there is no class with a tr() of its own. The context is the one that
// lupdate gives to a tr() in this namespace. So every text must be a literal in the call.
#pragma once

#include <QCoreApplication>
#include <QString>

namespace spanscope::ui {

/// `n` is the number for %n.
inline QString tr(const char* text, int n = -1) {
  return QCoreApplication::translate("spanscope::ui", text, nullptr, n);
}

}  // namespace spanscope::ui
