// SPDX-License-Identifier: GPL-3.0-or-later
// Shortens names where there is little room. A name is cut in the middle, so that the number at its end
// stays. Names that differ only in that number are all cut in the same way, so that they stay distinct.
#pragma once

#include <QFontMetrics>
#include <QString>

#include <vector>

namespace spanscope::ui {

struct NameRoom {
  QString name;
  double room = 0;  ///< pixels
};

/// Returns one text for each name, in the same order. Names that differ only in a number at their end
/// ("document 1", "document 2") form a family. The names of a family are all whole, or all cut in the middle
/// ("doc…12"), or all reduced to their numbers. Any other name is cut by itself, down to its first letters. A
/// text is empty if not even that fits.
std::vector<QString> shortNames(const std::vector<NameRoom>& names, const QFontMetrics& metrics);

/// Shortens a single name.
QString shortName(const QString& name, double room, const QFontMetrics& metrics);

}  // namespace spanscope::ui
