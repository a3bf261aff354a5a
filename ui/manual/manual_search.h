// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/manual/manual_pages.h"

#include <QString>
#include <QStringList>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

struct ManualHit {
  std::size_t page = 0;
  int line = 0;  ///< line of the page's Markdown, from 1
  QString text;  ///< the line as it is shown
  bool operator==(const ManualHit&) const = default;
};

/// The words in what a person typed, separated by blanks.
QStringList searchWords(const QString& typed);

/// Every line that holds all words; case does not matter. Headings come first; otherwise lines keep the order
/// of the pages.
std::vector<ManualHit> searchManual(const std::vector<ManualPage>& pages, const QString& typed);

/// A line of Markdown without its markup, as the page shows it. Two blanks separate the cells of a table.
QString shownLine(const QString& markdown);

}  // namespace spanscope::ui
