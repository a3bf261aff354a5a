// SPDX-License-Identifier: GPL-3.0-or-later
// What a tokenizer looks for in a text to cut it into words.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
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

  /// Tells of every occurrence in `text`, which is valid UTF-8, from left to right, none empty, none
  /// overlapping. Throws Failure if finding them would take unreasonably many steps, and on a stop.
  virtual void find(std::string_view text, const std::stop_token& stop, const Found& found) const = 0;
  std::vector<ByteRange> findAll(std::string_view text) const;
};

/// A literal text; `literal` must not be empty.
std::unique_ptr<const TextPattern> literalPattern(std::string literal);

/// Numbers (general category N): each digit, or each run of digits.
std::unique_ptr<const TextPattern> digitsPattern(bool individual);

/// The word patterns of well-known tokenizers, written by hand.
enum class WordPattern {
  Gpt2,    ///< words, numbers and symbols with the space before them
  Llama3,  ///< contractions in any case, numbers of up to three digits, symbols with the lines after them
  Qwen2    ///< as Llama3, but single digits
};
std::unique_ptr<const TextPattern> wordPattern(WordPattern pattern);

/// The pattern that a tokenizer's regular expression means: one written by hand if it is known, else one of
/// the regular-expression library. `file` and `place` are named in errors. Throws Failure for an expression
/// that is wrong, too long, or that means something else to this library than to the tokenizer's.
std::unique_ptr<const TextPattern> expressionPattern(const std::string& expression, const std::string& file,
                                                     const std::string& place);

}  // namespace spanscope::text
