// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope {

/// U+FFFD in UTF-8: replaces bytes that are no valid text.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// U+FEFF in UTF-8. At the beginning of a file it tells the encoding and is not part of the text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The text without the byte order mark at its beginning, if there is one.
constexpr std::string_view withoutByteOrderMark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// What the first bytes of a text are that should be UTF-8.
struct Utf8Step {
  enum class Kind {
    Character,  ///< a whole character
    Invalid,    ///< bytes that cannot begin or continue a character
    Incomplete  ///< the beginning of a character; its other bytes are missing at the end of the text
  };
  Kind kind = Kind::Invalid;
  std::size_t length = 0;  ///< bytes of the step; at least 1
};

/// `bytes` must not be empty. Overlong forms, surrogates and numbers above U+10FFFF are invalid.
Utf8Step nextUtf8(std::string_view bytes);

/// Offset of the first byte that does not belong to a character; npos if all do.
std::size_t findInvalidUtf8(std::string_view bytes);

bool isValidUtf8(std::string_view bytes);

/// Replaces each invalid or incomplete step by one U+FFFD (the "maximal subpart" practice of the Unicode
/// standard).
std::string toValidUtf8(std::string_view bytes);

/// Number of leading bytes that more bytes cannot change: all except an incomplete character at the end.
std::size_t settledUtf8Length(std::string_view bytes);

/// Whether the byte continues a character, as opposed to beginning one.
constexpr bool isUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Number of characters (code points) in well-formed UTF-8.
std::size_t countCharacters(std::string_view text);

/// Appends a character, which must be no surrogate and not above U+10FFFF.
void appendUtf8(std::string& text, char32_t character);

struct NarrowText {
  std::string text;  ///< UTF-8
  /// The byte of the first part that is no character, such as half of a pair; nothing: all are characters.
  std::optional<std::size_t> firstReplaced;
};

/// The text in UTF-8, without its byte order mark, if the bytes are UTF-16 or UTF-32. With a byte order mark,
/// each part that is no character becomes U+FFFD. Without a mark, the bytes must be well-formed as a whole,
/// with letters or spaces of ASCII among them, and without control characters: no other kind of text has such
/// zero bytes. Nothing if the bytes are anything else, such as UTF-8 or a mark alone.
std::optional<NarrowText> utf8OfWide(std::string_view bytes);

/// The bytes in UTF-8 if utf8OfWide() reads every character of them, else as they are.
std::string inUtf8(std::string bytes);

/// What a file is that is no text, by its first bytes, e.g. "a picture"; nullptr: it is not known.
const char* kindOfBytes(std::string_view bytes);

}  // namespace spanscope
