// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_search.h"

#include <QRegularExpression>

#include <algorithm>

namespace spanscope::ui {
namespace {

bool isFence(const QString& line) {
  return line.trimmed().startsWith(QLatin1String("```"));
}

/// A link or a picture; its text is the first group.
const QRegularExpression& link() {
  static const QRegularExpression expression(QStringLiteral("!?\\[([^\\]]*)\\]\\([^)]*\\)"));
  return expression;
}

/// Emphasis may begin on one line and end on another: each mark is taken by itself.
QString withoutMarks(QString text) {
  static const QRegularExpression mark(
      QStringLiteral("\\*\\*|(?<![\\w*])[*_](?=\\w)|(?<=[\\w.…])[*_](?![\\w*])"));
  return text.replace(link(), QStringLiteral("\\1")).remove(mark);
}

bool holdsAll(const QString& text, const QStringList& words) {
  return std::all_of(words.begin(), words.end(),
                     [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

}  // namespace

QStringList searchWords(const QString& typed) {
  return typed.split(QLatin1Char(' '), Qt::SkipEmptyParts);
}

QString shownLine(const QString& markdown) {
  static const QRegularExpression start(QStringLiteral("^\\s*(#{1,6}\\s+|[-*]\\s+|\\d+\\.\\s+|>\\s*)"));
  static const QRegularExpression rule(QStringLiteral("^\\s*\\|?[\\s:|-]+\\|?\\s*$"));
  if (rule.match(markdown).hasMatch()) return {};
  QString text = markdown;
  text.remove(start);
  // What stands between backticks is shown as it is.
  QStringList parts = text.split(QLatin1Char('`'));
  for (qsizetype i = 0; i < parts.size(); i += 2) parts[i] = withoutMarks(parts[i]);
  text = parts.join(QString()).replace(link(), QStringLiteral("\\1"));
  const QString bar(QLatin1Char('\x1f'));  // one that separates no cells
  text.replace(QStringLiteral("\\|"), bar);
  if (text.startsWith(QLatin1Char('|'))) {
    QStringList cells;
    for (const QString& cell : text.split(QLatin1Char('|'))) {
      if (!cell.trimmed().isEmpty()) cells += cell.trimmed();
    }
    text = cells.join(QStringLiteral("  "));
  }
  return text.replace(bar, QStringLiteral("|")).trimmed();
}

std::vector<ManualHit> searchManual(const std::vector<ManualPage>& pages, const QString& typed) {
  const QStringList words = searchWords(typed);
  std::vector<ManualHit> headings;
  std::vector<ManualHit> others;
  if (words.isEmpty()) return headings;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    bool code = false;
    int number = 0;
    for (const QString& line : pages[page].lines) {
      ++number;
      if (isFence(line)) {
        code = !code;
        continue;
      }
      const QString text = code ? line.trimmed() : shownLine(line);
      if (text.isEmpty() || !holdsAll(text, words)) continue;
      auto& list = !code && line.startsWith(QLatin1Char('#')) ? headings : others;
      list.push_back({.page = page, .line = number, .text = text});
    }
  }
  headings.insert(headings.end(), others.begin(), others.end());
  return headings;
}

}  // namespace spanscope::ui
