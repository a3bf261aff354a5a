// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/text/text_pattern.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/text/stop.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <cstdint>

namespace spanscope::text {

namespace {

constexpr std::size_t kMaxExpressionBytes = 16384;
constexpr std::uint32_t kMaxNestedGroups = 64;
constexpr std::uint32_t kMatchLimit = 50'000'000;
constexpr std::uint32_t kHeapLimitKibibytes = 131072;
/// Max number of steps to find the words of a text: a base, and a number for each byte. A step is one item of
/// the expression tried or one byte skipped.
constexpr std::uint64_t kBaseSteps = 1'000'000;
constexpr std::uint64_t kStepsPerByte = 100;

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Code = std::unique_ptr<pcre2_code, Freer<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Freer<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data_free>>;

/// The remaining steps, the last place of the matcher in the text, and whether to continue.
struct Budget {
  std::uint64_t left = 0;
  std::size_t position = 0;
  const std::stop_token* stop = nullptr;
};

/// Called by the library before every item of the expression.
int spend(pcre2_callout_block* block, void* data) {
  Budget& budget = *static_cast<Budget*>(data);
  const std::size_t now = block->current_position;
  const std::uint64_t steps = 1 + (now > budget.position ? now - budget.position : budget.position - now);
  budget.position = now;
  if (steps > budget.left || budget.stop->stop_requested()) return PCRE2_ERROR_CALLOUT;
  budget.left -= steps;
  return 0;
}

std::string libraryMessage(int code) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  if (pcre2_get_error_message(code, buffer.data(), buffer.size()) < 0) return "error " + std::to_string(code);
  return toValidUtf8(reinterpret_cast<const char*>(buffer.data()));
}

class ExpressionPattern final : public TextPattern {
 public:
  explicit ExpressionPattern(Code code) : m_code(std::move(code)) {}

  void find(std::string_view text, const std::stop_token& stop, const Found& found) const override {
    Budget budget{kBaseSteps + kStepsPerByte * text.size(), 0, &stop};
    const MatchContext context(pcre2_match_context_create(nullptr));
    const MatchData data(pcre2_match_data_create_from_pattern(m_code.get(), nullptr));
    if (!context || !data) throw Failure({"", "text", "no memory for a regular expression", "more memory"});
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_set_heap_limit(context.get(), kHeapLimitKibibytes);
    pcre2_set_callout(context.get(), spend, &budget);
    std::size_t position = 0;
    while (position < text.size()) {
      const std::optional<ByteRange> match = next(text, position, budget, *context, *data);
      if (!match) break;
      if (match->end > match->begin) {
        found(*match);
        position = match->end;
      } else {
        // An empty match does not count. The search continues after the next character.
        if (match->begin == text.size()) break;
        position = match->begin + nextUtf8(text.substr(match->begin)).length;
      }
    }
  }

 private:
  std::optional<ByteRange> next(std::string_view text, std::size_t from, Budget& budget,
                                pcre2_match_context& context, pcre2_match_data& data) const {
    const auto match = [&](std::uint32_t options) {
      return pcre2_match(m_code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                         PCRE2_NO_UTF_CHECK | options, &data, &context);
    };
    const Budget before = budget;
    int result = match(0);
    // Machine code takes the same steps, but has a small stack. If machine code fails, the interpreter starts
    // from the beginning.
    if (result < 0 && result != PCRE2_ERROR_NOMATCH && result != PCRE2_ERROR_CALLOUT) {
      budget = before;
      result = match(PCRE2_NO_JIT);
    }
    if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
    if (result < 0) {
      throwIfStopped(*budget.stop);
      const std::string problem = result == PCRE2_ERROR_CALLOUT ? "too many steps" : libraryMessage(result);
      throw Failure({"", "text",
                     counted(text.size(), "byte") + " on which the tokenizer's regular expression fails (" +
                         problem + ")",
                     "a text that the expression can match"});
    }
    const PCRE2_SIZE* ranges = pcre2_get_ovector_pointer(&data);
    return ByteRange{ranges[0], ranges[1]};
  }

  Code m_code;
};

Code compile(const std::string& expression, const std::string& file, const std::string& place) {
  const CompileContext context(pcre2_compile_context_create(nullptr));
  if (!context) throw Failure({file, place, "no memory for a regular expression", "more memory"});
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_parens_nest_limit(context.get(), kMaxNestedGroups);
  // Without these optimizations, the step counter sees every attempt.
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_AUTO_CALLOUT |
                                     PCRE2_NO_START_OPTIMIZE | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(), kOptions,
                          &error, &offset, context.get()));
  if (!code) {
    throw Failure({file, place, "an invalid regular expression (" + libraryMessage(error) + ")",
                   "a valid regular expression"});
  }
  // Expressions are interpreted if the machine allows no generated code.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return code;
}

struct KnownExpression {
  std::string_view expression;
  std::unique_ptr<const TextPattern> (*make)();
};

const std::array kKnown = {
    KnownExpression{R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                    [] { return wordPattern(WordPattern::Gpt2); }},
    KnownExpression{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
                    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
                    [] { return wordPattern(WordPattern::Llama3); }},
    KnownExpression{R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
                    [] { return wordPattern(WordPattern::Qwen2); }},
    KnownExpression{
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
        R"(|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S))"
        R"(|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})",
        [] { return wordPattern(WordPattern::Jais2); }},
    KnownExpression{R"(\p{N})", [] { return digitsPattern(true); }},
    KnownExpression{R"(\p{N}+)", [] { return digitsPattern(false); }},
    KnownExpression{kNumbersFromTheRight, [] { return digitGroupsPattern(DigitGroups::Numbers); }},
    KnownExpression{kDigitsBeforeBoundary, [] { return digitGroupsPattern(DigitGroups::BeforeBoundary); }},
    KnownExpression{kDigitGroupBegin, [] { return digitGroupsPattern(DigitGroups::Begins); }}};

}  // namespace

std::unique_ptr<const TextPattern> expressionPattern(const std::string& expression, const std::string& file,
                                                     const std::string& place) {
  for (const KnownExpression& known : kKnown) {
    if (known.expression == expression) return known.make();
  }
  if (expression.size() > kMaxExpressionBytes) {
    throw Failure({file, place, "a regular expression of " + std::to_string(expression.size()) + " bytes",
                   "at most " + std::to_string(kMaxExpressionBytes) + " bytes"});
  }
  TranslatedExpression translated = translateExpression(expression);
  if (translated.unsupported) {
    throw Failure(
        {file, place, "a regular expression with " + *translated.unsupported,
         "an expression without this construct. Spanscope does not support the construct, or libraries read "
         "the construct in different ways"});
  }
  return std::make_unique<ExpressionPattern>(compile(translated.expression, file, place));
}

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

/// Outside of a set, Oniguruma also counts the superscripts and fractions of Latin-1 as word characters.
constexpr std::string_view kMoreOfWords = "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";

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

  /// Groups that both libraries know. An option in the middle, "(?i)", has a longer range in one of the
  /// libraries.
  void group() {
    if (peek(1) == '*') return refuse(2);
    if (peek(1) != '?') return copy(1);
    for (const std::string_view known : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?-i:"}) {
      if (rest().substr(0, known.size()) == known) return copy(known.size());
    }
    if (m_position == 0 && rest().substr(0, 4) == "(?i)") return copy(4);
    refuse(4);
  }

  /// The quantifiers "{2,}", "{2}" and "{2,5}" are the same in both libraries, unless "+" or, after "{2}",
  /// "?" follows.
  void interval() {
    const std::size_t close = rest().find('}');
    if (close == std::string_view::npos || close == 1) return refuse(2);
    const std::string_view inside = rest().substr(1, close - 1);
    const std::size_t comma = inside.find(',');
    const std::string_view least = inside.substr(0, comma);
    const std::string_view most = comma == std::string_view::npos ? "" : inside.substr(comma + 1);
    const auto isNumber = [](std::string_view text) {
      return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
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
        return replace(2, inSet ? wordClass() : "[" + wordClass() + std::string(kMoreOfWords) + "]");
      case 'W':
        if (inSet) return refuse(2);
        return replace(2, "[^" + wordClass() + std::string(kMoreOfWords) + "]");
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

  /// "\p{Lu}" is a general category in both libraries. A longer name is a script, which PCRE2 would extend by
  /// default.
  void property(bool inSet) {
    if (peek(2) != '{') return refuse(2);
    const std::size_t close = rest().find('}');
    if (close == std::string_view::npos) return refuse(3);
    std::string_view name = rest().substr(3, close - 3);
    const bool negated = !name.empty() && name.front() == '^';
    if (negated) name.remove_prefix(1);
    if (name.empty() || !std::ranges::all_of(name, isLetterOrDigit)) return refuse(close + 1);
    const bool outside = (peek(1) == 'P') != negated;
    if (name.size() <= 2) return replace(close + 1, categorySet(name, outside, inSet));
    replace(close + 1, std::string(outside ? "\\P{" : "\\p{") + "sc:" + std::string(name) + "}");
  }

  /// Returns a general category with the characters that PCRE2 does not know yet. A negated category has no
  /// such form in a set. There PCRE2's own rules apply to these characters.
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
      if (!std::ranges::all_of(digits, isHexDigit)) return refuse(close + 1);
      return copy(close + 1);
    }
    // A byte above 0x7F would be a part of a character in one library, and a character in the other.
    if (!isHexDigit(peek(2)) || !isHexDigit(peek(3)) || peek(2) > '7') return refuse(4);
    copy(4);
  }

  void unicodeEscape() {
    const std::string_view digits = rest().substr(2, 4);
    if (digits.size() != 4 || !std::ranges::all_of(digits, isHexDigit)) return refuse(6);
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
