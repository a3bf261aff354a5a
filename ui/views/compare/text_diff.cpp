// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/text_diff.h"

#include <algorithm>

namespace spanscope::ui {
namespace {

constexpr std::size_t kMostCells = 4'000'000;

QStringList wordsOf(const QString& text) {
  QStringList words;
  qsizetype begin = 0;
  bool inSpace = false;
  for (qsizetype i = 0; i < text.size(); ++i) {
    const bool isSpace = text[i].isSpace();
    if (inSpace && !isSpace) {
      words += text.mid(begin, i - begin);
      begin = i;
    }
    inSpace = isSpace;
  }
  if (begin < text.size()) words += text.mid(begin);
  return words;
}

}  // namespace

std::vector<DiffStep> diffOf(const QStringList& left, const QStringList& right) {
  const auto leftSize = static_cast<std::size_t>(left.size());
  const auto rightSize = static_cast<std::size_t>(right.size());
  const auto isSame = [&](std::size_t i, std::size_t j) {
    return left[static_cast<qsizetype>(i)] == right[static_cast<qsizetype>(j)];
  };
  std::size_t head = 0;
  while (head < leftSize && head < rightSize && isSame(head, head)) ++head;
  std::size_t tail = 0;
  while (tail < leftSize - head && tail < rightSize - head &&
         isSame(leftSize - 1 - tail, rightSize - 1 - tail)) {
    ++tail;
  }

  std::vector<DiffStep> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({DiffKind::Same, i, i});
  const std::size_t rows = leftSize - head - tail;
  const std::size_t columns = rightSize - head - tail;
  std::size_t i = 0;
  std::size_t j = 0;
  if (rows > 0 && columns > 0 && rows * columns <= kMostCells) {
    // lengths[i][j] is the length of the longest common subsequence from i and j on.
    const std::size_t width = columns + 1;
    std::vector<std::uint32_t> lengths((rows + 1) * width, 0);
    for (std::size_t r = rows; r-- > 0;) {
      for (std::size_t c = columns; c-- > 0;) {
        lengths[r * width + c] = isSame(head + r, head + c)
                                     ? lengths[(r + 1) * width + c + 1] + 1
                                     : std::max(lengths[(r + 1) * width + c], lengths[r * width + c + 1]);
      }
    }
    while (i < rows && j < columns) {
      if (isSame(head + i, head + j)) {
        steps.push_back({DiffKind::Same, head + i, head + j});
        ++i;
        ++j;
      } else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1]) {
        steps.push_back({DiffKind::Left, head + i++, 0});
      } else {
        steps.push_back({DiffKind::Right, 0, head + j++});
      }
    }
  }
  while (i < rows) steps.push_back({DiffKind::Left, head + i++, 0});
  while (j < columns) steps.push_back({DiffKind::Right, 0, head + j++});
  for (std::size_t k = 0; k < tail; ++k)
    steps.push_back({DiffKind::Same, leftSize - tail + k, rightSize - tail + k});
  return steps;
}

std::vector<DiffPiece> textDiff(const QString& left, const QString& right) {
  const QStringList leftWords = wordsOf(left);
  const QStringList rightWords = wordsOf(right);
  std::vector<DiffPiece> pieces;
  for (const DiffStep& step : diffOf(leftWords, rightWords)) {
    const QString& word = step.kind == DiffKind::Right ? rightWords[static_cast<qsizetype>(step.right)]
                                                       : leftWords[static_cast<qsizetype>(step.left)];
    if (!pieces.empty() && pieces.back().kind == step.kind)
      pieces.back().text += word;
    else
      pieces.push_back({step.kind, word});
  }
  return pieces;
}

}  // namespace spanscope::ui
