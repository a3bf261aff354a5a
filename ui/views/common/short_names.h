// SPDX-License-Identifier: GPL-3.0-or-later
// Names where there is little room: cut in the middle, so that the number at their end stays, and all of one
// family alike, so that no two of them are told apart by what was cut off.
#pragma once

#include <QFontMetrics>
#include <QString>

#include <vector>

namespace spanscope::ui {

struct NameRoom {
  QString name;
  double room = 0;  ///< pixels
};

/// One text a name, in its order. Names that differ in a number at their end ("document 1", "document 2") are
/// a family: all of them are whole, or all are cut in the middle ("doc…12"), or all are their numbers. Other
/// names are cut each by itself, down to their first letters. Empty: not even a digit or a letter fits.
std::vector<QString> shortNames(const std::vector<NameRoom>& names, const QFontMetrics& metrics);

/// A single name.
QString shortName(const QString& name, double room, const QFontMetrics& metrics);

}  // namespace spanscope::ui
