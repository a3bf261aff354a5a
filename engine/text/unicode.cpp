// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/unicode.h"

#include "engine/base/utf8.h"
#include "engine/text/stop.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
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

/// The letters that syllables are made of.
bool isOfHangul(char32_t c) {
  return (c >= 0x1100 && c <= 0x11FF) || (c >= 0xA960 && c <= 0xA97F) || (c >= 0xD7B0 && c <= 0xD7FF) ||
         (c >= 0x3131 && c <= 0x318E) || (c >= 0xFFA0 && c <= 0xFFDC);
}

/// They are taken apart and put together by arithmetic.
bool isHangulSyllable(char32_t c) {
  return c >= 0xAC00 && c <= 0xD7A3;
}

/// Whether what stands before the character has no part in its normal form, nor it in theirs: it begins with
/// one that is moved before none and that none before joins.
bool isBoundary(char32_t c) {
  // Letters, save those of Hangul's syllables and those that stand for a mark, are never second in a pair.
  if (c <= kLastAscii) return true;
  if (isOfHangul(c)) return false;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LO:
      return combiningClass(static_cast<utf8proc_int32_t>(c)) == 0;
    default:
      return false;
  }
}

/// Whether the character is the same in every normal form, whatever stands beside it.
bool isInert(char32_t c) {
  constexpr std::uint16_t kNothing = std::numeric_limits<std::uint16_t>::max();
  const utf8proc_property_t& property = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  return property.combining_class == 0 && property.decomp_seqindex == kNothing &&
         property.comb_index == kNothing && !isOfHangul(c) && !isHangulSyllable(c);
}

/// Appends normal forms of texts one after the other.
class NormalFormWriter {
 public:
  /// `stop` must outlive it.
  NormalFormWriter(NormalForm form, const std::stop_token& stop)
      : m_form(form), m_stop(&stop), m_poll(stop) {}

  /// `text` must be one that neither side of it has a part in.
  void append(std::string_view text, std::string& result) {
    const bool compatible = m_form == NormalForm::Kc || m_form == NormalForm::Kd;
    m_characters.clear();
    for (std::size_t i = 0; i < text.size(); i += characterLength(text[i])) {
      m_poll.step();
      decompose(firstCharacter(text.substr(i)), compatible, m_characters);
    }
    orderMarks(m_characters, *m_stop);
    if (m_form == NormalForm::C || m_form == NormalForm::Kc) {
      const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
      const utf8proc_ssize_t count = utf8proc_normalize_utf32(
          m_characters.data(), static_cast<utf8proc_ssize_t>(m_characters.size()), options);
      if (count >= 0) m_characters.resize(static_cast<std::size_t>(count));
    }
    for (const utf8proc_int32_t c : m_characters) {
      m_poll.step();
      appendUtf8(result, static_cast<char32_t>(c));
    }
  }

  /// How many bytes at the beginning stay as they are, whatever follows.
  std::size_t settledLength(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (isAscii(text[end]) || isInert(firstCharacter(text.substr(end))))) {
      m_poll.step();
      end += characterLength(text[end]);
    }
    // A mark would join the letter before it.
    return end > 0 && end < text.size() && isAscii(text[end - 1]) ? end - 1 : end;
  }

  /// How many bytes at the beginning have to do with each other, or lie before a boundary.
  std::size_t joinedLength(std::string_view text) {
    // Part by part: what lies between takes many times the memory of the text.
    constexpr std::size_t kPartBytes = 16384;
    std::size_t end = characterLength(text.front());
    while (end < text.size() && !isAscii(text[end])) {
      m_poll.step();
      const char32_t c = firstCharacter(text.substr(end));
      if (end < kPartBytes ? isInert(c) : isBoundary(c)) break;
      end += characterLength(text[end]);
    }
    return end;
  }

 private:
  static bool isAscii(char c) { return static_cast<unsigned char>(c) <= kLastAscii; }

  NormalForm m_form;
  const std::stop_token* m_stop;
  StopPoll m_poll;
  std::vector<utf8proc_int32_t> m_characters;
};

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
  std::string result;
  result.reserve(text.size());
  NormalFormWriter writer(form, stop);
  while (!text.empty()) {
    const std::size_t settled = writer.settledLength(text);
    result += text.substr(0, settled);
    text.remove_prefix(settled);
    if (text.empty()) break;
    const std::size_t joined = writer.joinedLength(text);
    writer.append(text.substr(0, joined), result);
    text.remove_prefix(joined);
  }
  return result;
}

}  // namespace spanscope::text
