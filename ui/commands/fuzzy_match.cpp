// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/commands/fuzzy_match.h"

#include <QString>

#include <algorithm>
#include <cstddef>
#include <limits>

namespace spanscope::ui {
namespace {

constexpr int kMatched = 1;
constexpr int kWordStart = 8;  ///< "sa" finds "Save as" before "Disable all"
constexpr int kTextStart = 4;  ///< more for the first word
constexpr int kUnbroken = 9;   ///< follows the previous letter at once
constexpr int kImpossible = std::numeric_limits<int>::min() / 2;

bool isWordStart(QStringView text, qsizetype at) {
  if (!text[at].isLetterOrNumber()) return false;
  if (at == 0) return true;
  const QChar before = text[at - 1];
  return !before.isLetterOrNumber() || (before.isLower() && text[at].isUpper());
}

}  // namespace

std::optional<FuzzyMatch> fuzzyMatch(QStringView wanted, QStringView text) {
  QString letters;
  for (const QChar letter : wanted) {
    if (!letter.isSpace()) letters += letter.toCaseFolded();
  }
  if (letters.isEmpty()) return FuzzyMatch{};
  const auto rows = static_cast<std::size_t>(letters.size());
  const auto columns = static_cast<std::size_t>(text.size());
  if (rows > columns) return std::nullopt;

  // best[i][j]: letters 0 … i placed, letter i on character j. from[i][j]: where letter i − 1 stands then.
  std::vector<std::vector<int>> best(rows, std::vector<int>(columns, kImpossible));
  std::vector<std::vector<std::size_t>> from(rows, std::vector<std::size_t>(columns, 0));
  for (std::size_t i = 0; i < rows; ++i) {
    int bestBefore = kImpossible;  // over all places of letter i − 1 left of j, other than next to it
    std::size_t bestPlace = 0;
    for (std::size_t j = i; j < columns; ++j) {
      if (i > 0 && j >= 2 && best[i - 1][j - 2] > bestBefore) {
        bestBefore = best[i - 1][j - 2];
        bestPlace = j - 2;
      }
      const auto at = static_cast<qsizetype>(j);
      if (text[at].toCaseFolded() != letters[static_cast<qsizetype>(i)]) continue;
      int own = kMatched;
      if (isWordStart(text, at)) own += kWordStart + (at == 0 ? kTextStart : 0);
      if (i == 0) {
        best[i][j] = own;
        continue;
      }
      const int unbroken = best[i - 1][j - 1] + kUnbroken;
      const bool next = unbroken >= bestBefore;
      const int before = next ? unbroken : bestBefore;
      if (before <= kImpossible / 2) continue;
      best[i][j] = before + own;
      from[i][j] = next ? j - 1 : bestPlace;
    }
  }

  const std::vector<int>& last = best.back();
  const auto winner = std::max_element(last.begin(), last.end());
  if (*winner <= kImpossible / 2) return std::nullopt;
  FuzzyMatch match{.score = *winner, .positions = std::vector<qsizetype>(rows)};
  auto place = static_cast<std::size_t>(winner - last.begin());
  for (std::size_t i = rows; i-- > 0;) {
    match.positions[i] = static_cast<qsizetype>(place);
    place = from[i][place];
  }
  return match;
}

}  // namespace spanscope::ui
