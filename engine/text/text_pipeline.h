// SPDX-License-Identifier: GPL-3.0-or-later
// What a tokenizer does to a text before its words are encoded: it is normalized, then cut into words.
#pragma once

#include "engine/text/text_pattern.h"
#include "engine/text/unicode.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual std::string apply(std::string_view text) const = 0;
};

std::unique_ptr<const Normalizer> unicodeNormalizer(NormalForm form);
/// Puts `prefix` before every text that is not empty.
std::unique_ptr<const Normalizer> prependNormalizer(std::string prefix);
std::unique_ptr<const Normalizer> replaceNormalizer(std::unique_ptr<const TextPattern> pattern,
                                                    std::string replacement);

/// A word, or what will be cut further.
struct Word {
  std::string text;
  bool beginsText = false;  ///< stands at the beginning of the whole text
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Appends the words of `word`, none of them empty.
  virtual void apply(const Word& word, std::vector<Word>& words) const = 0;
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

/// Every step in order; a text that is not empty gives at least one word unless a step leaves it out.
std::vector<Word> preTokenize(const std::vector<std::unique_ptr<const PreTokenizer>>& steps, Word text);

}  // namespace spanscope::text
