// SPDX-License-Identifier: GPL-3.0-or-later
// Makes text from outside safe to show in a terminal or a log: nothing in it commands the terminal, hides
// other text or looks like a line of its own.
#pragma once

#include <string>
#include <string_view>

namespace spanscope {

/// Whether a character (in UTF-8) acts on the display instead of being visible: a control (C0, DEL, C1), a
/// separator of lines, or a character that embeds, overrides or isolates a direction of writing.
bool isControl(std::string_view character);

/// Makes text visible that comes in pieces. Each control except newline and tab becomes its JSON escape,
/// "\u001b"; a byte that is not valid UTF-8 becomes "\xff". A character may be cut between two pieces.
class VisibleText {
 public:
  /// Appends the piece to `shown`. An incomplete character at its end waits for the next piece.
  void append(std::string& shown, std::string_view piece);
  /// Appends an incomplete character that still waits, as "\x.." escapes. No more pieces may follow it.
  void finish(std::string& shown);

 private:
  std::string m_begun;
};

/// Makes a whole text visible in the same way; newlines and tabs too become "\n" and "\t".
std::string onOneLine(std::string_view text);

/// A text as it stands between the tags, or in the quoted attributes, of HTML and XML (SVG): &, <, > and both
/// quotation marks are written as entities.
std::string escapedMarkup(std::string_view text);

/// The name of a member as one step of a JSON pointer (RFC 6901, section 3): "/a~1b" for "a/b".
std::string pointerStep(std::string_view name);

}  // namespace spanscope
