// SPDX-License-Identifier: GPL-3.0-or-later
// What a tokenizer does to a text before its words are encoded: it is normalized, then cut into words.
#pragma once

#include "engine/text/text_pattern.h"
#include "engine/text/unicode.h"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Throws Failure on a stop.
  virtual std::string apply(std::string_view text, const std::stop_token& stop) const = 0;
};

std::unique_ptr<const Normalizer> unicodeNormalizer(NormalForm form);
/// Puts `prefix` before every text that is not empty.
std::unique_ptr<const Normalizer> prependNormalizer(std::string prefix);
std::unique_ptr<const Normalizer> replaceNormalizer(std::unique_ptr<const TextPattern> pattern,
                                                    std::string replacement);

/// A word, or what will be cut further.
struct Word {
  std::string_view text;    ///< not empty
  bool beginsText = false;  ///< stands at the beginning of the whole text
};

/// Takes words as they are cut; what a word's text lies in lives until it was taken.
class WordSink {
 public:
  virtual ~WordSink() = default;
  virtual void take(const Word& word) = 0;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Gives the words of `word` in order. Throws Failure on a stop.
  virtual void apply(const Word& word, const std::stop_token& stop, WordSink& words) const = 0;
};

/// What becomes of the places where a pattern is found.
enum class SplitBehavior {
  Removed,             ///< they are left out
  Isolated,            ///< they are words of their own
  MergedWithPrevious,  ///< they end a word
  MergedWithNext,      ///< they begin a word
  Contiguous           ///< as Isolated, but neighbours are one word
};

/// With `invert` the pattern tells what stands between the places.
std::unique_ptr<const PreTokenizer> splitPreTokenizer(std::unique_ptr<const TextPattern> pattern,
                                                      SplitBehavior behavior, bool invert);

/// Puts a space before a text that has none.
std::unique_ptr<const PreTokenizer> prefixSpacePreTokenizer();

enum class PrependScheme { Always, First, Never };

/// Writes spaces as `mark`, puts one before the text, and, with `split`, cuts before each.
std::unique_ptr<const PreTokenizer> metaspacePreTokenizer(std::string mark, PrependScheme scheme, bool split);

/// Every step in order, each word through all of them before the next is cut, so that a long text takes no
/// more memory than a short one; a text that is not empty gives at least one word unless a step leaves it
/// out.
void preTokenize(const std::vector<std::unique_ptr<const PreTokenizer>>& steps, const Word& text,
                 const std::stop_token& stop, WordSink& words);

}  // namespace spanscope::text
