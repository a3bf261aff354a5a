// SPDX-License-Identifier: GPL-3.0-or-later
// The steps before encoding: the text is normalized, then split into words. Open this file to add a
// normalizer or a pre-tokenizer.
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
/// Puts `prefix` before every non-empty text.
std::unique_ptr<const Normalizer> prependNormalizer(std::string prefix);
std::unique_ptr<const Normalizer> replaceNormalizer(std::unique_ptr<const TextPattern> pattern,
                                                    std::string replacement);

/// A word, or a section of the text that will be split further.
struct Word {
  std::string_view text;    ///< not empty
  bool beginsText = false;  ///< whether it is at the beginning of the whole text
};

/// Receives words one after the other. The text of a word is valid only until take() returns.
class WordSink {
 public:
  virtual ~WordSink() = default;
  virtual void take(const Word& word) = 0;
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  /// Calls `words` for each word of `word`, in order. Throws Failure on a stop.
  virtual void apply(const Word& word, const std::stop_token& stop, WordSink& words) const = 0;
};

/// The treatment of the matches of a pattern.
enum class SplitBehavior {
  Removed,             ///< they are left out
  Isolated,            ///< they are words of their own
  MergedWithPrevious,  ///< they end a word
  MergedWithNext,      ///< they begin a word
  Contiguous           ///< like Isolated, but neighbouring matches are one word
};

/// With `invert`, the sections between the matches of the pattern are treated as the matches.
std::unique_ptr<const PreTokenizer> splitPreTokenizer(std::unique_ptr<const TextPattern> pattern,
                                                      SplitBehavior behavior, bool invert);

/// Puts a space before a text that does not begin with one.
std::unique_ptr<const PreTokenizer> prefixSpacePreTokenizer();

enum class PrependScheme { Always, First, Never };

/// Replaces spaces by `mark`. Puts one mark before the text, as `scheme` says. With `split`, splits before
/// each mark.
std::unique_ptr<const PreTokenizer> metaspacePreTokenizer(std::string mark, PrependScheme scheme, bool split);

/// Does all steps in order. Each word goes through all steps before the next word is split off. A long text
/// therefore needs no more memory than a short one. A non-empty text gives at least one word unless a step
/// removes it.
void preTokenize(const std::vector<std::unique_ptr<const PreTokenizer>>& steps, const Word& text,
                 const std::stop_token& stop, WordSink& words);

}  // namespace spanscope::text
