// SPDX-License-Identifier: GPL-3.0-or-later
// What a tokenizer needs to know about characters: their class, and the normal forms of a text.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

namespace spanscope::text {

enum class CharacterClass : std::uint8_t {
  Letter,      ///< general category L
  Number,      ///< general category N
  WhiteSpace,  ///< property White_Space
  Other
};

CharacterClass characterClass(char32_t character);

/// Whether regular expressions count the character as part of a word: letters, marks, decimal digits,
/// connectors.
bool isWordCharacter(char32_t character);

/// The first character of `bytes`, which must be valid UTF-8 and not empty.
char32_t firstCharacter(std::string_view bytes);

/// The Unicode normal forms.
enum class NormalForm : std::uint8_t { C, D, Kc, Kd };

/// `text` must be valid UTF-8. It takes O(n log n) steps for any text. Throws Failure on a stop.
std::string normalized(std::string_view text, NormalForm form, const std::stop_token& stop = {});

}  // namespace spanscope::text
