// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope {

/// U+FFFD in UTF-8: stands where there was no valid text.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// U+FEFF in UTF-8. At the beginning of a file it says how the file is encoded, and is no part of its text.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The text without a byte order mark at its beginning.
constexpr std::string_view withoutByteOrderMark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// What stands at the beginning of some bytes that should be UTF-8.
struct Utf8Step {
  enum class Kind {
    Character,  ///< a whole character
    Invalid,    ///< bytes that cannot begin or continue a character
    Incomplete  ///< the beginning of a character that the bytes end within
  };
  Kind kind = Kind::Invalid;
  std::size_t length = 0;  ///< bytes that belong to it; at least 1
};

/// `bytes` must not be empty. Overlong forms, surrogates and what is above U+10FFFF are invalid.
Utf8Step nextUtf8(std::string_view bytes);

/// Offset of the first byte that does not belong to a character, or npos.
std::size_t findInvalidUtf8(std::string_view bytes);

bool isValidUtf8(std::string_view bytes);

/// One U+FFFD for each invalid or incomplete step (the "maximal subpart" practice of the Unicode standard).
std::string toValidUtf8(std::string_view bytes);

/// How many leading bytes are settled: everything but an incomplete character at the end.
std::size_t settledUtf8Length(std::string_view bytes);

/// Whether the byte goes on with a character rather than beginning one.
constexpr bool isUtf8Continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Number of characters (code points) in well-formed UTF-8.
std::size_t countCharacters(std::string_view text);

/// Appends a character, which is neither a surrogate nor above U+10FFFF.
void appendUtf8(std::string& text, char32_t character);

}  // namespace spanscope
