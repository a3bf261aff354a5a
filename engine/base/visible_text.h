// SPDX-License-Identifier: GPL-3.0-or-later
// Text from outside where a terminal or a log shows it: nothing in it commands the terminal, hides other text
// or looks like a line of its own.
#pragma once

#include <string>
#include <string_view>

namespace spanscope {

/// Whether one character of UTF-8 does something where it is shown, instead of being seen: a control (C0,
/// DEL, C1), a separator of lines, or one that embeds, overrides or isolates a direction of writing.
bool isControl(std::string_view character);

/// Makes text that comes in pieces visible: each control but newline and tab becomes what JSON writes for it,
/// "\u001b"; a byte that is no UTF-8 becomes "\xff". A character may be cut in two by the pieces.
class VisibleText {
 public:
  /// Appends the piece to `shown`, but for the beginning of a character at its end.
  void append(std::string& shown, std::string_view piece);
  /// Appends such a beginning, after which no more came.
  void finish(std::string& shown);

 private:
  std::string m_begun;
};

/// The same for text that is whole, with newlines and tabs written as "\n" and "\t".
std::string onOneLine(std::string_view text);

}  // namespace spanscope
