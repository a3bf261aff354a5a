// SPDX-License-Identifier: GPL-3.0-or-later
// Makes text from outside safe to show in a terminal or a log. The shown text cannot command the terminal,
// hide other text or look like a line of its own. Open this file before you print such a text.
#pragma once

#include <string>
#include <string_view>

namespace spanscope {

/// Whether a character (in UTF-8) acts on the display and is not visible. Such characters are controls (C0,
/// DEL, C1), separators of lines, and marks that change the direction of writing.
bool isControl(std::string_view character);

/// Makes text visible that arrives in pieces. Each control except newline and tab becomes its JSON escape,
/// "\u001b". A byte that is not valid UTF-8 becomes "\xff". A character may be split between two pieces.
class VisibleText {
 public:
  /// Appends the piece to `shown`. An incomplete character at its end waits for the next piece.
  void append(std::string& shown, std::string_view piece);
  /// Appends a waiting incomplete character, as "\x.." escapes. No more pieces may follow.
  void finish(std::string& shown);

 private:
  std::string m_begun;
};

/// Makes a whole text visible in the same way. Newlines and tabs also become "\n" and "\t".
std::string onOneLine(std::string_view text);

/// Returns a text for use between the tags, or in the quoted attributes, of HTML and XML (SVG). Entities
/// replace &, <, > and both quotation marks.
std::string escapedMarkup(std::string_view text);

/// Returns the name of a member as one step of a JSON pointer (RFC 6901, section 3): "/a~1b" for "a/b".
std::string pointerStep(std::string_view name);

}  // namespace spanscope
