// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-2's alphabet: every byte spelled as one printable character, so that a vocabulary can be written as
// text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spanscope::text {

/// The character for a byte, in UTF-8: printable Latin-1 characters are themselves, the other bytes are
/// U+0100 and up in order of their value (`encoder.py` of GPT-2).
std::string byteLetter(unsigned char byte);

/// The bytes that a text of this alphabet spells; nothing if a character is not of it.
std::optional<std::string> bytesOfLetters(std::string_view letters);

}  // namespace spanscope::text
