// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringView>

#include <optional>
#include <vector>

namespace spanscope::ui {

struct FuzzyMatch {
  int score = 0;                     ///< larger is better; only useful for comparison
  std::vector<qsizetype> positions;  ///< indices of the matched characters of the text, ascending
  bool operator==(const FuzzyMatch&) const = default;
};

/// Whether the letters of `wanted` occur in `text` in this order, with anything between them, and how well.
/// The result is the best of all ways to place the letters; beginnings of words and unbroken runs count most.
/// Case does not matter, nor do spaces in `wanted`. An empty `wanted` matches every text with score 0.
/// Returns nothing if there is no match.
std::optional<FuzzyMatch> fuzzyMatch(QStringView wanted, QStringView text);

}  // namespace spanscope::ui
