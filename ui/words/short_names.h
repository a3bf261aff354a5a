// SPDX-License-Identifier: GPL-3.0-or-later
// Shorter forms of names, for places without room for the whole name.
#pragma once

#include <QString>
#include <QStringList>

namespace spanscope::ui {

/// The min letters before a cut. Fewer letters are unreadable.
inline constexpr qsizetype kFewestNameLetters = 4;

/// A name that ends with a number: "document 12".
struct NumberedName {
  QString family;  ///< the name without the number and the space before it: "document"
  QString number;  ///< "12"; empty: the name does not end with a number
};
NumberedName splitName(const QString& name);

/// The forms of a name from the longest to the shortest, all with its number: "document 12", "doc 12", "12".
/// A word without a short form loses letters: "passage 3", "passa…3", "pass…3", "3". A name without a number
/// has only one form. Names of the same family have equally many forms.
QStringList shortForms(const QString& name);

}  // namespace spanscope::ui
