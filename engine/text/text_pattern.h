// SPDX-License-Identifier: GPL-3.0-or-later
// The patterns by which a tokenizer splits a text into words. Also translates and runs the regular
// expressions of tokenizers. Open this file to add a hand-written pattern, or when an expression is refused.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// Bytes `begin` … `end` − 1 of a text.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const ByteRange&) const = default;
};

class TextPattern {
 public:
  virtual ~TextPattern() = default;

  using Found = std::function<void(ByteRange)>;

  /// Calls `found` for every match in `text`, which must be valid UTF-8, from left to right. Matches are not
  /// empty and do not overlap. Throws Failure when the job is stopped, or if the search would take too many
  /// steps.
  virtual void find(std::string_view text, const std::stop_token& stop, const Found& found) const = 0;
  std::vector<ByteRange> findAll(std::string_view text) const;
};

/// Matches a literal text. `literal` must not be empty.
std::unique_ptr<const TextPattern> literalPattern(std::string literal);

/// Matches numbers (general category N): each digit, or each run of digits.
std::unique_ptr<const TextPattern> digitsPattern(bool individual);

/// Splits runs of digits into groups of three, counted from the right: "1234567" becomes "1", "234" and
/// "567". The search takes linear time. A regular expression would look ahead from each group to the end of
/// its run.
enum class DigitGroups {
  Numbers,         ///< matches the groups of all runs of numbers (general category N)
  BeforeBoundary,  ///< matches the groups of runs of decimal digits, unless a word character follows the run
  Begins           ///< matches from each begin of a whole group of decimal digits to the next, or to the end
};
std::unique_ptr<const TextPattern> digitGroupsPattern(DigitGroups groups);

/// The expressions of these patterns, as expressionPattern() knows them.
inline constexpr std::string_view kNumbersFromTheRight = R"(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))";
inline constexpr std::string_view kDigitsBeforeBoundary = R"(\d{1,3}(?=(?:\d{3})*\b))";
inline constexpr std::string_view kDigitGroupBegin = R"((?=(\d{3})+(?!\d)))";

/// The word patterns of well-known tokenizers, written by hand.
enum class WordPattern {
  Gpt2,    ///< words, numbers and symbols, each with the space before it
  Llama3,  ///< contractions in any case, numbers of up to three digits, symbols with the line ends after them
  Qwen2,   ///< like Llama3, but numbers of one digit
  Jais2    ///< like Llama3, but white space in pieces of 512, 256, … 4, 2 and 1 characters
};
std::unique_ptr<const TextPattern> wordPattern(WordPattern pattern);

/// Returns the pattern for a tokenizer's regular expression. Known expressions have a hand-written pattern.
/// Others use the regular-expression library. Errors contain `file` and `place`. Throws Failure if the
/// expression is wrong, is too long, or means something else to this library.
std::unique_ptr<const TextPattern> expressionPattern(const std::string& expression, const std::string& file,
                                                     const std::string& place);

/// A regular expression in the syntax of another library, or the construct that prevents the translation.
struct TranslatedExpression {
  std::string expression;
  std::optional<std::string> unsupported;
};

/// Translates an expression from Oniguruma's Ruby syntax, which tokenizers use, to PCRE2's syntax. The result
/// needs the options UTF, UCP and MULTILINE. The meaning stays the same. Constructs that PCRE2 lacks or reads
/// differently are not translated.
TranslatedExpression translateExpression(std::string_view expression);

}  // namespace spanscope::text
