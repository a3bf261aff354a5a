// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/unicode.h"

#include "engine/base/utf8.h"
#include "engine/text/stop.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

namespace spanscope::text {
namespace {

constexpr char32_t kLastAscii = 0x7F;

/// The general categories of Hugging Face's tokenizers 0.23.3.
constexpr NewerCharacters kNewer[] = {
    {0x897, 0x897, "Mn"},     {0xCF3, 0xCF3, "Mc"},     {0xECE, 0xECE, "Mn"},     {0x1C89, 0x1C89, "Lu"},
    {0x1C8A, 0x1C8A, "Ll"},   {0xA7CB, 0xA7CC, "Lu"},   {0xA7CD, 0xA7CD, "Ll"},   {0xA7DA, 0xA7DA, "Lu"},
    {0xA7DB, 0xA7DB, "Ll"},   {0xA7DC, 0xA7DC, "Lu"},   {0x105C0, 0x105F3, "Lo"}, {0x10D40, 0x10D49, "Nd"},
    {0x10D4A, 0x10D4D, "Lo"}, {0x10D4E, 0x10D4E, "Lm"}, {0x10D4F, 0x10D4F, "Lo"}, {0x10D50, 0x10D65, "Lu"},
    {0x10D69, 0x10D6D, "Mn"}, {0x10D6F, 0x10D6F, "Lm"}, {0x10D70, 0x10D85, "Ll"}, {0x10EC2, 0x10EC4, "Lo"},
    {0x10EFC, 0x10EFF, "Mn"}, {0x1123F, 0x11240, "Lo"}, {0x11241, 0x11241, "Mn"}, {0x11380, 0x11389, "Lo"},
    {0x1138B, 0x1138B, "Lo"}, {0x1138E, 0x1138E, "Lo"}, {0x11390, 0x113B5, "Lo"}, {0x113B7, 0x113B7, "Lo"},
    {0x113B8, 0x113BA, "Mc"}, {0x113BB, 0x113C0, "Mn"}, {0x113C2, 0x113C2, "Mc"}, {0x113C5, 0x113C5, "Mc"},
    {0x113C7, 0x113CA, "Mc"}, {0x113CC, 0x113CD, "Mc"}, {0x113CE, 0x113CE, "Mn"}, {0x113CF, 0x113CF, "Mc"},
    {0x113D0, 0x113D0, "Mn"}, {0x113D1, 0x113D1, "Lo"}, {0x113D2, 0x113D2, "Mn"}, {0x113D3, 0x113D3, "Lo"},
    {0x113E1, 0x113E2, "Mn"}, {0x116D0, 0x116E3, "Nd"}, {0x11BC0, 0x11BE0, "Lo"}, {0x11BF0, 0x11BF9, "Nd"},
    {0x11F00, 0x11F01, "Mn"}, {0x11F02, 0x11F02, "Lo"}, {0x11F03, 0x11F03, "Mc"}, {0x11F04, 0x11F10, "Lo"},
    {0x11F12, 0x11F33, "Lo"}, {0x11F34, 0x11F35, "Mc"}, {0x11F36, 0x11F3A, "Mn"}, {0x11F3E, 0x11F3F, "Mc"},
    {0x11F40, 0x11F40, "Mn"}, {0x11F41, 0x11F41, "Mc"}, {0x11F42, 0x11F42, "Mn"}, {0x11F50, 0x11F59, "Nd"},
    {0x11F5A, 0x11F5A, "Mn"}, {0x1342F, 0x1342F, "Lo"}, {0x13440, 0x13440, "Mn"}, {0x13441, 0x13446, "Lo"},
    {0x13447, 0x13455, "Mn"}, {0x13460, 0x143FA, "Lo"}, {0x16100, 0x1611D, "Lo"}, {0x1611E, 0x16129, "Mn"},
    {0x1612A, 0x1612C, "Mc"}, {0x1612D, 0x1612F, "Mn"}, {0x16130, 0x16139, "Nd"}, {0x16D40, 0x16D42, "Lm"},
    {0x16D43, 0x16D6A, "Lo"}, {0x16D6B, 0x16D6C, "Lm"}, {0x16D70, 0x16D79, "Nd"}, {0x18CFF, 0x18CFF, "Lo"},
    {0x1B132, 0x1B132, "Lo"}, {0x1B155, 0x1B155, "Lo"}, {0x1CCF0, 0x1CCF9, "Nd"}, {0x1D2C0, 0x1D2D3, "No"},
    {0x1DF25, 0x1DF2A, "Ll"}, {0x1E030, 0x1E06D, "Lm"}, {0x1E08F, 0x1E08F, "Mn"}, {0x1E4D0, 0x1E4EA, "Lo"},
    {0x1E4EB, 0x1E4EB, "Lm"}, {0x1E4EC, 0x1E4EF, "Mn"}, {0x1E4F0, 0x1E4F9, "Nd"}, {0x1E5D0, 0x1E5ED, "Lo"},
    {0x1E5EE, 0x1E5EF, "Mn"}, {0x1E5F0, 0x1E5F0, "Lo"}, {0x1E5F1, 0x1E5FA, "Nd"}, {0x2B739, 0x2B739, "Lo"},
    {0x2EBF0, 0x2EE5D, "Lo"}, {0x31350, 0x323AF, "Lo"}};

/// The general category of a character that utf8proc does not know. Empty if the character has none.
std::string_view newerCategory(char32_t c) {
  const auto after = std::ranges::upper_bound(kNewer, c, {}, &NewerCharacters::first);
  if (after == std::begin(kNewer) || c > std::prev(after)->last) return {};
  return std::prev(after)->category;
}

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

/// The canonical ordering. The library's own ordering takes quadratic time on long runs of marks.
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

/// The letters that Hangul's syllables consist of.
bool isOfHangul(char32_t c) {
  return (c >= 0x1100 && c <= 0x11FF) || (c >= 0xA960 && c <= 0xA97F) || (c >= 0xD7B0 && c <= 0xD7FF) ||
         (c >= 0x3131 && c <= 0x318E) || (c >= 0xFFA0 && c <= 0xFFDC);
}

/// Hangul syllables are split and joined by arithmetic.
bool isHangulSyllable(char32_t c) {
  return c >= 0xAC00 && c <= 0xD7A3;
}

/// Whether a normal form can be computed separately before and after the character. The normal form of the
/// character then begins with a character that never changes its place, and that no earlier character joins.
bool isBoundary(char32_t c) {
  // Letters are never second in a pair, except letters of Hangul's syllables and letters that replace a mark.
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

/// Whether the character is the same in every normal form, independent of its neighbours.
bool isInert(char32_t c) {
  constexpr std::uint16_t kNothing = std::numeric_limits<std::uint16_t>::max();
  const utf8proc_property_t& property = *utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
  return property.combining_class == 0 && property.decomp_seqindex == kNothing &&
         property.comb_index == kNothing && !isOfHangul(c) && !isHangulSyllable(c);
}

/// Appends normal forms of texts one after the other.
class NormalFormWriter {
 public:
  /// `stop` must outlive this object.
  NormalFormWriter(NormalForm form, const std::stop_token& stop)
      : m_form(form), m_stop(&stop), m_poll(stop) {}

  /// `text` must not depend on the text before or after it.
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

  /// Returns the length of the beginning that stays unchanged, independent of the following text.
  std::size_t settledLength(std::string_view text) {
    std::size_t end = 0;
    while (end < text.size() && (isAscii(text[end]) || isInert(firstCharacter(text.substr(end))))) {
      m_poll.step();
      end += characterLength(text[end]);
    }
    // A mark would join the letter before it.
    return end > 0 && end < text.size() && isAscii(text[end - 1]) ? end - 1 : end;
  }

  /// Returns the length of the beginning that must be converted together. The beginning ends at a boundary.
  std::size_t joinedLength(std::string_view text) {
    // Long texts are converted in parts, because conversion takes many times the memory of the text.
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
    case UTF8PROC_CATEGORY_CN: {
      const std::string_view category = newerCategory(character);
      if (category.starts_with('L')) return CharacterClass::Letter;
      return category.starts_with('N') ? CharacterClass::Number : CharacterClass::Other;
    }
    default:
      return CharacterClass::Other;
  }
}

std::span<const NewerCharacters> newerCharacters() {
  return kNewer;
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
    case UTF8PROC_CATEGORY_CN: {
      const std::string_view category = newerCategory(character);
      return !category.empty() && category != "No";
    }
    default:
      return characterClass(character) == CharacterClass::Letter || character == 0x200C ||
             character == 0x200D || isEnclosedLetter(character);
  }
}

bool isDecimalDigit(char32_t character) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(character));
  if (category == UTF8PROC_CATEGORY_CN) return newerCategory(character) == "Nd";
  return category == UTF8PROC_CATEGORY_ND;
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
