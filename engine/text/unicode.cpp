// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/unicode.h"

#include "engine/base/utf8.h"
#include "engine/text/stop.h"

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

constexpr CharacterClass asciiClass(char32_t c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return CharacterClass::Letter;
  if (c >= '0' && c <= '9') return CharacterClass::Number;
  return c == ' ' || (c >= 0x09 && c <= 0x0D) ? CharacterClass::WhiteSpace : CharacterClass::Other;
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
void orderMarks(std::vector<utf8proc_int32_t>& characters, const std::stop_token& stop) {
  StopPoll poll(stop);
  auto begin = characters.begin();
  while (begin != characters.end()) {
    if (combiningClass(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end =
        std::find_if(begin, characters.end(), [](utf8proc_int32_t c) { return combiningClass(c) == 0; });
    std::stable_sort(begin, end, [&poll](utf8proc_int32_t a, utf8proc_int32_t b) {
      poll.step();
      return combiningClass(a) < combiningClass(b);
    });
    begin = end;
  }
}

/// Whether what stands before the character has no part in its normal form, nor it in theirs: it begins with
/// one that is moved before none and that none before joins.
bool isBoundary(char32_t c) {
  // Letters, save those of Hangul's syllables and those that stand for a mark, are never second in a pair.
  constexpr auto kIsOfHangul = [](char32_t d) {
    return (d >= 0x1100 && d <= 0x11FF) || (d >= 0xA960 && d <= 0xA97F) || (d >= 0xD7B0 && d <= 0xD7FF) ||
           (d >= 0x3131 && d <= 0x318E) || (d >= 0xFFA0 && d <= 0xFFDC);
  };
  if (c <= kLastAscii) return true;
  if (kIsOfHangul(c)) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LO:
      return combiningClass(static_cast<utf8proc_int32_t>(c)) == 0;
    default:
      return false;
  }
}

/// Appends the normal form of a text that neither side of it has a part in.
void appendNormalized(std::string_view text, NormalForm form, const std::stop_token& stop,
                      std::string& result) {
  const bool compatible = form == NormalForm::Kc || form == NormalForm::Kd;
  std::vector<utf8proc_int32_t> characters;
  characters.reserve(text.size());
  StopPoll poll(stop);
  while (!text.empty()) {
    poll.step();
    decompose(firstCharacter(text), compatible, characters);
    text.remove_prefix(nextUtf8(text).length);
  }
  orderMarks(characters, stop);
  if (form == NormalForm::C || form == NormalForm::Kc) {
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    const utf8proc_ssize_t count = utf8proc_normalize_utf32(
        characters.data(), static_cast<utf8proc_ssize_t>(characters.size()), options);
    if (count >= 0) characters.resize(static_cast<std::size_t>(count));
  }
  for (const utf8proc_int32_t c : characters) {
    poll.step();
    appendUtf8(result, static_cast<char32_t>(c));
  }
}

}  // namespace

CharacterClass characterClass(char32_t character) {
  if (character <= kLastAscii) return asciiClass(character);
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

std::string normalized(std::string_view text, NormalForm form, const std::stop_token& stop) {
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) <= kLastAscii; });
  if (ascii) return std::string(text);
  // Part by part: what lies between takes many times the memory of the text.
  constexpr std::size_t kPartBytes = 16384;
  std::string result;
  result.reserve(text.size());
  StopPoll poll(stop);
  while (!text.empty()) {
    std::size_t end = std::min(kPartBytes, text.size());
    while (end < text.size() &&
           (isUtf8Continuation(text[end]) || !isBoundary(firstCharacter(text.substr(end))))) {
      poll.step();
      ++end;
    }
    appendNormalized(text.substr(0, end), form, stop, result);
    text.remove_prefix(end);
  }
  return result;
}

}  // namespace spanscope::text
