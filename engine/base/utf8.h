// SPDX-License-Identifier: GPL-3.0-or-later
// Reads, checks and repairs UTF-8, UTF-16 and UTF-32, and writes hexadecimal digits. The functions also make
// text from outside safe for a terminal or a log. Such text then cannot control the terminal, hide other text
// or look like a separate line. Open this file to read or print text from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope {

/// U+FFFD in UTF-8. This character replaces bytes that are not valid text.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// U+FEFF in UTF-8. At the beginning of a file, this character marks the encoding and is not part of the
/// text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Returns the text without a byte order mark at its beginning.
constexpr std::string_view withoutByteOrderMark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// The first character or fault of a text that should be UTF-8.
struct Utf8Step {
  enum class Kind {
    Character,  ///< a whole character
    Invalid,    ///< bytes that are not a character
    Incomplete  ///< the beginning of a character at the end of the text; other bytes are missing
  };
  Kind kind = Kind::Invalid;
  std::size_t length = 0;  ///< bytes of the step; at least 1
};

/// Returns the first step of `bytes`, which must not be empty. Overlong forms, surrogates and numbers above
/// U+10FFFF are invalid.
Utf8Step nextUtf8(std::string_view bytes);

/// Returns the offset of the first byte that does not belong to a character, or npos.
std::size_t findInvalidUtf8(std::string_view bytes);

bool isValidUtf8(std::string_view bytes);

/// Replaces each invalid or incomplete step by one U+FFFD (Unicode's "maximal subpart" practice).
std::string toValidUtf8(std::string_view bytes);

/// Returns the number of bytes before an incomplete character at the end.
std::size_t settledUtf8Length(std::string_view bytes);

/// Whether the byte continues a character and does not begin one.
constexpr bool isUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns the number of characters (code points) in well-formed UTF-8.
std::size_t countCharacters(std::string_view text);

/// Returns the longest beginning of a well-formed text that has whole characters and at most this number of
/// bytes.
std::string_view beginningOf(std::string_view text, std::size_t bytes);

/// Returns the text without blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n");

/// Returns the parts between the separators. There is one more part than there are separators.
std::vector<std::string_view> splitAt(std::string_view text, char separator);

/// Appends a character, which must not be a surrogate or above U+10FFFF.
void appendUtf8(std::string& text, char32_t character);

struct NarrowText {
  std::string text;  ///< UTF-8
  /// Byte offset of the first invalid part, such as half of a surrogate pair. Nothing: the whole text is
  /// valid.
  std::optional<std::size_t> firstReplaced;
};

/// Returns the text in UTF-8, without its byte order mark, if the bytes are UTF-16 or UTF-32. With a byte
/// order mark, each invalid part becomes U+FFFD. Without a mark, all bytes must be well-formed. The text must
/// have ASCII letters or spaces and no control characters. Text in other encodings does not have the zero
/// bytes of such letters. Returns nothing for other bytes, such as UTF-8 or only a mark.
std::optional<NarrowText> utf8OfWide(std::string_view bytes);

/// Returns the bytes in UTF-8 if utf8OfWide() reads every character of them. Otherwise returns the bytes
/// unchanged.
std::string inUtf8(std::string bytes);

/// Returns the kind of a file that is not text, by its first bytes, e.g. "a picture". nullptr: unknown.
const char* kindOfBytes(std::string_view bytes);

/// Whether a character (in UTF-8) is invisible and controls the display. Such characters are controls (C0,
/// DEL, C1), separators of lines, and marks that change the direction of writing.
bool isControl(std::string_view character);

/// Makes control characters visible in text that arrives in pieces. Each control except newline and tab
/// becomes its JSON escape, "\u001b". A byte that is not valid UTF-8 becomes "\xff". A character may be split
/// between two pieces.
class VisibleText {
 public:
  /// Appends the piece to `shown`. An incomplete character at the end of the piece waits for the next piece.
  void append(std::string& shown, std::string_view piece);
  /// Appends a waiting incomplete character, as "\x.." escapes. No more pieces may follow.
  void finish(std::string& shown);

 private:
  std::string m_begun;
};

/// Makes control characters visible in a whole text. Newlines and tabs also become "\n" and "\t".
std::string onOneLine(std::string_view text);

/// Returns a text for use between the tags, or in the quoted attributes, of HTML and XML (SVG). Entities
/// replace &, <, > and both quotation marks.
std::string escapedMarkup(std::string_view text);

/// Appends the lowest hexadecimal digits of a value, in small letters.
void appendHex(std::string& text, std::uint64_t value, unsigned digits);

/// Returns two hexadecimal digits for each byte.
std::string hexOf(std::span<const std::uint8_t> bytes);

/// Returns the UTF-16 unit of an escape \\uXXXX at the beginning of a text, or nothing.
std::optional<char32_t> escapedUnit(std::string_view text);

/// Returns the name of a member as one step of a JSON pointer (RFC 6901, section 3): "/a~1b" for "a/b".
std::string pointerStep(std::string_view name);

}  // namespace spanscope
