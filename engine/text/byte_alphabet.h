// SPDX-License-Identifier: GPL-3.0-or-later
// GPT-2's alphabet: it spells every byte as one printable character, so that a vocabulary can be written as
// text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace spanscope::text {

/// The character for a byte, in UTF-8. Printable Latin-1 characters stand for themselves. The other bytes, in
/// order of their values, are U+0100 and up (`encoder.py` of GPT-2).
std::string byteLetter(unsigned char byte);

/// The bytes that a text in this alphabet spells; nothing if it contains another character.
std::optional<std::string> bytesOfLetters(std::string_view letters);

}  // namespace spanscope::text
