// SPDX-License-Identifier: GPL-3.0-or-later
// Texts for people, where no class with a tr() of its own is at hand. The contexts are those that lupdate
// gives to a tr() in these namespaces, so every text stands as a literal in a call.
#pragma once

#include <QCoreApplication>
#include <QString>

namespace spanscope::ui {

/// `n`: the count that %n stands for.
inline QString tr(const char* text, int n = -1) {
  return QCoreApplication::translate("spanscope::ui", text, nullptr, n);
}

}  // namespace spanscope::ui

namespace spanscope::document {

inline QString tr(const char* text, int n = -1) {
  return QCoreApplication::translate("spanscope::document", text, nullptr, n);
}

}  // namespace spanscope::document
