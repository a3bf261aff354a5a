// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of special tokens such as "<|user|>". Open this file to change how all views write such tokens.
#pragma once

#include <QString>

#include <optional>
#include <string>
#include <string_view>

namespace spanscope::ui {

/// The character of a token of one byte, as some tokenizers write it: "<0x2B>" → "+". Nothing: the text is
/// not such a token, or its byte is no visible character.
inline std::optional<QChar> byteCharacter(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  bool isNumber = false;
  const uint byte = QString::fromUtf8(text.data() + 3, 2).toUInt(&isNumber, 16);
  if (!isNumber || byte <= 0x20 || byte >= 0x7F) return std::nullopt;
  return QChar(static_cast<char16_t>(byte));
}

/// Whether the text of a token is that of a special token: "<|user|>" or "<s>".
inline bool isMarker(std::string_view text) {
  if (byteCharacter(text)) return false;
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
/// markerText(), and visible bytes as byteCharacter().
inline QString tokenInLine(const std::string& text) {
  if (const std::optional<QChar> character = byteCharacter(text)) return QString(*character);
  return isMarker(text) ? markerText(text) : QString::fromStdString(text);
}

}  // namespace spanscope::ui
