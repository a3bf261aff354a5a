// SPDX-License-Identifier: GPL-3.0-or-later
// The properties of characters that tokenizers need: classes and normal forms. Open this file to change the
// Unicode version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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

/// Characters of one general category that are newer than Unicode 14, up to Unicode 16.
struct NewerCharacters {
  char32_t first = 0;
  char32_t last = 0;
  char category[3] = "";  ///< "Lu", "Nd" …
};

/// Returns all letters, marks, numbers and connectors that are newer than the tables of PCRE2, in order. The
/// tokenizers of Hugging Face know these characters.
std::span<const NewerCharacters> newerCharacters();

/// Whether regular expressions count the character as part of a word: letters, marks, decimal digits,
/// connectors.
bool isWordCharacter(char32_t character);

/// Whether the character has the general category Nd.
bool isDecimalDigit(char32_t character);

/// Returns the first character of `bytes`, which must be valid UTF-8 and not empty.
inline char32_t firstCharacter(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(bytes[i])); };
  const char32_t lead = at(0);
  if (lead < 0x80) return lead;
  if (lead < 0xE0) return ((lead & 0x1FU) << 6U) | (at(1) & 0x3FU);
  if (lead < 0xF0) return ((lead & 0x0FU) << 12U) | ((at(1) & 0x3FU) << 6U) | (at(2) & 0x3FU);
  return ((lead & 0x07U) << 18U) | ((at(1) & 0x3FU) << 12U) | ((at(2) & 0x3FU) << 6U) | (at(3) & 0x3FU);
}

/// Returns the number of bytes of a character. `first` is its first byte.
constexpr std::size_t characterLength(char first) {
  const auto lead = static_cast<unsigned char>(first);
  if (lead < 0x80) return 1;
  if (lead < 0xE0) return 2;
  return lead < 0xF0 ? 3 : 4;
}

/// The Unicode normal forms.
enum class NormalForm : std::uint8_t { C, D, Kc, Kd };

/// Normalizes `text`, which must be valid UTF-8. Takes O(n log n) steps for any text. Throws Failure when the
/// job is stopped.
std::string normalized(std::string_view text, NormalForm form, const std::stop_token& stop = {});

}  // namespace spanscope::text
