// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/compare/text_diff.h"

#include <QStringList>

#include <cstddef>

namespace spanscope::ui {
namespace {

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

DiffKind kindOf(StandsOn on) {
  return on == StandsOn::Both ? DiffKind::Same : on == StandsOn::Left ? DiffKind::Left : DiffKind::Right;
}

std::vector<DiffPiece> textDiff(const QString& left, const QString& right) {
  const QStringList leftWords = wordsOf(left);
  const QStringList rightWords = wordsOf(right);
  const auto at = [](const QStringList& words, std::size_t index) -> const QString& {
    return words[static_cast<qsizetype>(index)];
  };
  std::vector<DiffPiece> pieces;
  for (const DifferenceStep& step :
       differenceOf(static_cast<std::size_t>(leftWords.size()), static_cast<std::size_t>(rightWords.size()),
                    [&](std::size_t i, std::size_t j) { return at(leftWords, i) == at(rightWords, j); })) {
    const QString& word = step.on == StandsOn::Right ? at(rightWords, step.right) : at(leftWords, step.left);
    const DiffKind kind = kindOf(step.on);
    if (!pieces.empty() && pieces.back().kind == kind)
      pieces.back().text += word;
    else
      pieces.push_back({kind, word});
  }
  return pieces;
}

}  // namespace spanscope::ui
