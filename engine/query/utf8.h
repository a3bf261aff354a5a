// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

/// Offset of the first byte that does not belong to a well-formed UTF-8 sequence (no overlong forms, no
/// surrogates, nothing above U+10FFFF), or npos.
std::size_t findInvalidUtf8(std::string_view text);

/// Number of characters (code points) in well-formed UTF-8.
std::size_t countCharacters(std::string_view text);

/// `text` on one line (control characters become spaces), at most `characters` long with an ellipsis as the
/// last one where something was cut off.
std::string cutText(std::string_view text, std::size_t characters);

/// The text in double quotes, cut to 40 characters, as messages show it.
std::string quoted(std::string_view text);

/// Appends a character, which is not a surrogate, as UTF-8.
void appendUtf8(std::string& text, unsigned code);

}  // namespace spanscope::query
