// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/manual/manual_search.h"

#include <QRegularExpression>

#include <algorithm>

namespace spanscope::ui {
namespace {

bool isFence(const QString& line) {
  return line.trimmed().startsWith(QLatin1String("```"));
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
  static const QRegularExpression picture(QStringLiteral("!\\[([^\\]]*)\\]\\([^)]*\\)"));
  static const QRegularExpression link(QStringLiteral("\\[([^\\]]*)\\]\\([^)]*\\)"));
  static const QRegularExpression start(QStringLiteral("^\\s*(#{1,6}\\s+|[-*]\\s+|\\d+\\.\\s+|>\\s*)"));
  static const QRegularExpression rule(QStringLiteral("^\\s*\\|?[\\s:|-]+\\|?\\s*$"));
  QString text = markdown;
  if (rule.match(text).hasMatch()) return {};
  text.replace(picture, QStringLiteral("\\1"));
  text.replace(link, QStringLiteral("\\1"));
  text.remove(start);
  text.remove(QLatin1Char('`'));
  text.remove(QStringLiteral("**"));
  static const QRegularExpression emphasis(QStringLiteral("(?<![\\w*])[*_]([^*_]+)[*_](?![\\w*])"));
  text.replace(emphasis, QStringLiteral("\\1"));
  text.replace(QStringLiteral("\\|"), QStringLiteral("\x1f"));
  if (text.startsWith(QLatin1Char('|'))) {
    QStringList cells;
    for (const QString& cell : text.split(QLatin1Char('|'))) {
      if (!cell.trimmed().isEmpty()) cells += cell.trimmed();
    }
    text = cells.join(QStringLiteral("  "));
  }
  text.replace(QLatin1Char('\x1f'), QLatin1Char('|'));
  return text.trimmed();
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
