// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/json/json_highlighter.h"

namespace spanscope::ui {
namespace {

/// The position after the closing quote of the text that begins at `begin`, or the end of the line.
qsizetype endOfText(const QString& line, qsizetype begin) {
  for (qsizetype i = begin + 1; i < line.size(); ++i) {
    if (line[i] == QLatin1Char('\\'))
      ++i;
    else if (line[i] == QLatin1Char('"'))
      return i + 1;
  }
  return line.size();
}

bool isKey(const QString& line, qsizetype end) {
  while (end < line.size() && line[end].isSpace()) ++end;
  return end < line.size() && line[end] == QLatin1Char(':');
}

}  // namespace

void JsonHighlighter::setTheme(const Theme& theme) {
  m_theme = theme;
  rehighlight();
}

void JsonHighlighter::highlightBlock(const QString& text) {
  const auto paint = [this](qsizetype begin, qsizetype end, Role role) {
    setFormat(static_cast<int>(begin), static_cast<int>(end - begin), m_theme.color(role));
  };
  qsizetype i = 0;
  while (i < text.size()) {
    const QChar c = text[i];
    if (c == QLatin1Char('"')) {
      const qsizetype end = endOfText(text, i);
      paint(i, end, isKey(text, end) ? Role::Text : Role::TextSecond);
      i = end;
    } else if (c.isLetterOrNumber() || c == QLatin1Char('-')) {
      qsizetype end = i + 1;
      while (end < text.size() && (text[end].isLetterOrNumber() || QStringView(u"+-.").contains(text[end])))
        ++end;
      paint(i, end, Role::Accent);
      i = end;
    } else {
      paint(i, i + 1, Role::TextThird);
      ++i;
    }
  }
}

}  // namespace spanscope::ui
