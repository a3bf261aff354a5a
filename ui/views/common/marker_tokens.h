// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of special tokens such as "<|user|>". Open this file to change how all views write such tokens.
#pragma once

#include <QString>

#include <string>
#include <string_view>

namespace spanscope::ui {

/// Whether the text of a token is that of a special token: "<|user|>" or "<s>".
inline bool isMarker(std::string_view text) {
  return text.size() > 2 && text.front() == '<' && text.back() == '>' &&
         text.find(' ') == std::string_view::npos;
}

/// "<|user|>" → "‹user›". `text` is a special token.
inline QString markerText(const std::string& text) {
  QString name = QString::fromStdString(text);
  name = name.mid(1, name.size() - 2);
  if (name.size() > 2 && name.startsWith(QLatin1Char('|')) && name.endsWith(QLatin1Char('|')))
    name = name.mid(1, name.size() - 2);
  return QChar(0x2039) + name + QChar(0x203A);
}

/// Returns the text of a token for a line of several tokens. The spaces stay. Special tokens are written as
/// markerText().
inline QString tokenInLine(const std::string& text) {
  return isMarker(text) ? markerText(text) : QString::fromStdString(text);
}

}  // namespace spanscope::ui
