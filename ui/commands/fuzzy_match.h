// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringView>

#include <optional>
#include <vector>

namespace spanscope::ui {

struct FuzzyMatch {
  int score = 0;                     ///< larger is better; of use only for comparing
  std::vector<qsizetype> positions;  ///< of the characters of the text that were matched, ascending
  bool operator==(const FuzzyMatch&) const = default;
};

/// Whether the letters of `wanted` occur in `text` in this order, whatever stands between them, and how well:
/// the best of all ways to place them, where the beginnings of words and unbroken runs count most. Case and
/// the spaces of `wanted` do not matter. Nothing wanted matches everything with score 0.
std::optional<FuzzyMatch> fuzzyMatch(QStringView wanted, QStringView text);

}  // namespace spanscope::ui
