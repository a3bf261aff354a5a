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
  QString heading;  ///< the heading above the text, without markup; the text itself if the hit is a heading
  QString text;  ///< a paragraph, a list item, a table row, a heading or a line of code, as the page shows it
  bool operator==(const ManualHit&) const = default;
};

/// The words that the user typed, separated by spaces.
QStringList searchWords(const QString& typed);

/// Every text that contains all words, in any case. Headings come first; otherwise hits keep the order of the
/// pages. A sentence that continues on the next line of the file is one text.
std::vector<ManualHit> searchManual(const std::vector<ManualPage>& pages, const QString& typed);

/// Markdown without its markup, as the page shows it. Two spaces separate the cells of a table.
QString shownLine(const QString& markdown);

/// At most `length` characters of `text` around the first of the words, with "…" where text is left out.
QString excerptOf(const QString& text, const QStringList& words, qsizetype length);

/// The HTML of a plain text with the words in bold.
QString withBoldWords(const QString& text, const QStringList& words);

}  // namespace spanscope::ui
