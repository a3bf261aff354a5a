// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/expression_translation.h"

#include "engine/base/utf8.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace spanscope::text {
namespace {

std::string escaped(char32_t c) {
  std::array<char, 8> digits{};
  const char* end =
      std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<std::uint32_t>(c), 16).ptr;
  return "\\x{" + std::string(digits.data(), static_cast<std::size_t>(end - digits.data())) + "}";
}

/// Characters of a general category, "L" or "Lu", that PCRE2 does not know yet, as a part of a set.
std::string newerOf(std::string_view category) {
  std::string set;
  const std::span<const NewerCharacters> rows = newerCharacters();
  const auto isIn = [&](std::size_t row) {
    return row < rows.size() && std::string_view(rows[row].category).starts_with(category);
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!isIn(row)) continue;
    set += escaped(rows[row].first) + "-";
    while (isIn(row + 1) && rows[row + 1].first == rows[row].last + 1) ++row;
    set += escaped(rows[row].last);
  }
  return set;
}

std::string wordClass() {
  return "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}" + newerOf("L") + newerOf("M") + newerOf("Nd");
}

bool isHexDigit(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}
bool isLetterOrDigit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

class Translator {
 public:
  explicit Translator(std::string_view source) : m_source(source) {}

  TranslatedExpression run() {
    while (!atEnd() && !m_unsupported) step();
    if (m_unsupported) return {"", m_unsupported};
    return {std::move(m_out), std::nullopt};
  }

 private:
  bool atEnd() const { return m_position >= m_source.size(); }
  std::string_view rest() const { return m_source.substr(m_position); }
  char peek(std::size_t ahead = 0) const {
    return m_position + ahead < m_source.size() ? m_source[m_position + ahead] : '\0';
  }

  void copy(std::size_t count) {
    m_out += m_source.substr(m_position, count);
    m_position += count;
  }

  void refuse(std::size_t count) {
    m_unsupported = "\"" + toValidUtf8(m_source.substr(m_position, count)) + "\" at character " +
                    std::to_string(m_position + 1);
  }

  void step() {
    switch (peek()) {
      case '\\':
        escape(false);
        return;
      case '[':
        characterSet();
        return;
      case '(':
        group();
        return;
      case '{':
        interval();
        return;
      default:
        copy(1);
    }
  }

  /// Groups that both know. An option in the middle, "(?i)", reaches further in one of the two.
  void group() {
    if (peek(1) == '*') return refuse(2);
    if (peek(1) != '?') return copy(1);
    for (const std::string_view known : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?-i:"}) {
      if (rest().substr(0, known.size()) == known) return copy(known.size());
    }
    if (m_position == 0 && rest().substr(0, 4) == "(?i)") return copy(4);
    refuse(4);
  }

  /// "{2,}", "{2}" and "{2,5}" are the same in both, unless "+" or, after "{2}", "?" follows.
  void interval() {
    const std::size_t close = rest().find('}');
    if (close == std::string_view::npos || close == 1) return refuse(2);
    const std::string_view inside = rest().substr(1, close - 1);
    const std::size_t comma = inside.find(',');
    const std::string_view least = inside.substr(0, comma);
    const std::string_view most = comma == std::string_view::npos ? "" : inside.substr(comma + 1);
    const auto isNumber = [](std::string_view text) {
      return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    };
    if (least.empty() || !isNumber(least) || !isNumber(most)) return refuse(close + 1);
    const char after = peek(close + 1);
    if (after == '+' || (after == '?' && comma == std::string_view::npos)) return refuse(close + 2);
    copy(close + 1);
  }

  void characterSet() {
    copy(1);
    if (peek() == '^') copy(1);
    if (peek() == ']') return refuse(1);
    while (!atEnd() && !m_unsupported && peek() != ']') {
      if (peek() == '\\') {
        escape(true);
      } else if (peek() == '[' || rest().substr(0, 2) == "&&") {
        return refuse(2);  // A set in a set, "[:alpha:]", or an intersection.
      } else {
        copy(1);
      }
    }
    if (!m_unsupported) copy(1);
  }

  void escape(bool inSet) {
    const char c = peek(1);
    switch (c) {
      case 's':
        return replace(2, "\\p{White_Space}");
      case 'S':
        return replace(2, "\\P{White_Space}");
      case 'd':
        return replace(2, categorySet("Nd", false, inSet));
      case 'D':
        return replace(2, categorySet("Nd", true, inSet));
      case 'w':
        return replace(2, inSet ? wordClass() : "[" + wordClass() + "]");
      case 'W':
        if (inSet) return refuse(2);
        return replace(2, "[^" + wordClass() + "]");
      case 'v':
        return replace(2, "\\x0B");
      case 'n':
      case 'r':
      case 't':
      case 'f':
        return copy(2);
      case 'A':
      case 'z':
        if (inSet) return refuse(2);
        return copy(2);
      case 'p':
      case 'P':
        return property(inSet);
      case 'x':
        return hexadecimal();
      case 'u':
        return unicodeEscape();
      default:
        if (c == '\0' || isLetterOrDigit(c) || static_cast<unsigned char>(c) >= 0x80) return refuse(2);
        return copy(2);
    }
  }

  void replace(std::size_t count, const std::string& with) {
    m_out += with;
    m_position += count;
  }

  /// "\p{Lu}" is a general category in both; a longer name is a script, which PCRE2 by itself would extend.
  void property(bool inSet) {
    if (peek(2) != '{') return refuse(2);
    const std::size_t close = rest().find('}');
    if (close == std::string_view::npos) return refuse(3);
    std::string_view name = rest().substr(3, close - 3);
    const bool negated = !name.empty() && name.front() == '^';
    if (negated) name.remove_prefix(1);
    if (name.empty() || !std::all_of(name.begin(), name.end(), isLetterOrDigit)) return refuse(close + 1);
    const bool outside = (peek(1) == 'P') != negated;
    if (name.size() <= 2) return replace(close + 1, categorySet(name, outside, inSet));
    replace(close + 1, std::string(outside ? "\\P{" : "\\p{") + "sc:" + std::string(name) + "}");
  }

  /// A general category with the characters that PCRE2 does not know yet. What is outside of one has no such
  /// form within a set; there those characters count as PCRE2 has them.
  static std::string categorySet(std::string_view name, bool outside, bool inSet) {
    const std::string newer = newerOf(name);
    if (newer.empty() || (outside && inSet))
      return std::string(outside ? "\\P{" : "\\p{") + std::string(name) + "}";
    const std::string set = "\\p{" + std::string(name) + "}" + newer;
    return inSet ? set : (outside ? "[^" : "[") + set + "]";
  }

  void hexadecimal() {
    if (peek(2) == '{') {
      const std::size_t close = rest().find('}');
      constexpr std::size_t kMostDigits = 8;
      if (close == std::string_view::npos || close < 4 || close > 3 + kMostDigits) return refuse(3);
      const std::string_view digits = rest().substr(3, close - 3);
      if (!std::all_of(digits.begin(), digits.end(), isHexDigit)) return refuse(close + 1);
      return copy(close + 1);
    }
    // A byte above 0x7F would be part of a character in one and a character in the other.
    if (!isHexDigit(peek(2)) || !isHexDigit(peek(3)) || peek(2) > '7') return refuse(4);
    copy(4);
  }

  void unicodeEscape() {
    const std::string_view digits = rest().substr(2, 4);
    if (digits.size() != 4 || !std::all_of(digits.begin(), digits.end(), isHexDigit)) return refuse(6);
    replace(6, "\\x{" + std::string(digits) + "}");
  }

  std::string_view m_source;
  std::size_t m_position = 0;
  std::string m_out;
  std::optional<std::string> m_unsupported;
};

}  // namespace

TranslatedExpression translateExpression(std::string_view expression) {
  return Translator(expression).run();
}

}  // namespace spanscope::text
