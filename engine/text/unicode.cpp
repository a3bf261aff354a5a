// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/unicode.h"

#include "engine/base/utf8.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace spanscope::text {
namespace {

constexpr char32_t kLastAscii = 0x7F;

bool isWhiteSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// Circled and squared letters: symbols that have the property Alphabetic.
bool isEnclosedLetter(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
         (c >= 0x1F170 && c <= 0x1F189);
}

int combiningClass(utf8proc_int32_t c) {
  return static_cast<int>(utf8proc_get_property(c)->combining_class);
}

/// Appends the full decomposition of one character.
void decompose(char32_t c, bool compatible, std::vector<utf8proc_int32_t>& out) {
  // The longest decomposition, that of U+FDFA, has 18 characters.
  std::array<utf8proc_int32_t, 32> buffer{};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (compatible ? UTF8PROC_COMPAT : 0));
  int boundary = 0;
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), buffer.data(),
                              static_cast<utf8proc_ssize_t>(buffer.size()), options, &boundary);
  if (count < 0 || count > static_cast<utf8proc_ssize_t>(buffer.size())) {
    out.push_back(static_cast<utf8proc_int32_t>(c));
    return;
  }
  out.insert(out.end(), buffer.begin(), buffer.begin() + count);
}

/// The canonical ordering. The library's own takes quadratic time on long runs of marks.
void orderMarks(std::vector<utf8proc_int32_t>& characters) {
  auto begin = characters.begin();
  while (begin != characters.end()) {
    if (combiningClass(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end =
        std::find_if(begin, characters.end(), [](utf8proc_int32_t c) { return combiningClass(c) == 0; });
    std::stable_sort(begin, end, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combiningClass(a) < combiningClass(b);
    });
    begin = end;
  }
}

}  // namespace

CharacterClass characterClass(char32_t character) {
  if (isWhiteSpace(character)) return CharacterClass::WhiteSpace;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterClass::Letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::Number;
    default:
      return CharacterClass::Other;
  }
}

bool isWordCharacter(char32_t character) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return characterClass(character) == CharacterClass::Letter || character == 0x200C ||
             character == 0x200D || isEnclosedLetter(character);
  }
}

char32_t firstCharacter(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(bytes[i])); };
  const char32_t lead = at(0);
  if (lead < 0x80) return lead;
  if (lead < 0xE0) return ((lead & 0x1FU) << 6U) | (at(1) & 0x3FU);
  if (lead < 0xF0) return ((lead & 0x0FU) << 12U) | ((at(1) & 0x3FU) << 6U) | (at(2) & 0x3FU);
  return ((lead & 0x07U) << 18U) | ((at(1) & 0x3FU) << 12U) | ((at(2) & 0x3FU) << 6U) | (at(3) & 0x3FU);
}

std::string normalized(std::string_view text, NormalForm form) {
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) <= kLastAscii; });
  if (ascii) return std::string(text);
  const bool compatible = form == NormalForm::Kc || form == NormalForm::Kd;
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    decompose(firstCharacter(text), compatible, characters);
    text.remove_prefix(nextUtf8(text).length);
  }
  orderMarks(characters);
  if (form == NormalForm::C || form == NormalForm::Kc) {
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    const utf8proc_ssize_t count = utf8proc_normalize_utf32(
        characters.data(), static_cast<utf8proc_ssize_t>(characters.size()), options);
    if (count >= 0) characters.resize(static_cast<std::size_t>(count));
  }
  std::string result;
  for (const utf8proc_int32_t c : characters) appendUtf8(result, static_cast<char32_t>(c));
  return result;
}

}  // namespace spanscope::text
