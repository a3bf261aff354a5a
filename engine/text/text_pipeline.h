// SPDX-License-Identifier: GPL-3.0-or-later
// The steps before encoding: the text is normalized, then split into words. Open this file to add a
// normalizer or a pre-tokenizer.
// Finds added tokens, which are not in the vocabulary, before a tokenizer splits the text into words. Open
// this file when an added token is encoded wrongly.
#pragma once

#include "engine/base/ids.h"
#include "engine/text/text_pattern.h"
#include "engine/text/unicode.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spanscope::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Throws Failure when the job is stopped.
  virtual std::string apply(std::string_view text, const std::stop_token& stop) const = 0;
};

std::unique_ptr<const Normalizer> unicodeNormalizer(NormalForm form);
/// Puts `prefix` before every non-empty text.
std::unique_ptr<const Normalizer> prependNormalizer(std::string prefix);
std::unique_ptr<const Normalizer> replaceNormalizer(std::unique_ptr<const TextPattern> pattern,
                                                    std::string replacement);

std::unique_ptr<const Normalizer> lowercaseNormalizer();
/// Removes white space at the ends.
std::unique_ptr<const Normalizer> stripNormalizer(bool left, bool right);
/// Removes all marks (general category M).
std::unique_ptr<const Normalizer> marksNormalizer();

/// The steps of BERT's normalizer, in order.
struct BertRules {
  bool cleans = true;            ///< removes control characters, and replaces white space by spaces
  bool spacesIdeographs = true;  ///< puts spaces around each Chinese character
  bool stripsAccents = true;     ///< decomposes characters and removes marks (general category Mn)
  bool lowercases = true;
};
std::unique_ptr<const Normalizer> bertNormalizer(BertRules rules);

/// Replaces characters by the table of a sentencepiece model: a trie (double array) and the texts that
/// replace its keys. `table` has the bytes of the field precompiled_charsmap. Returns null for bytes that are
/// no such table.
std::unique_ptr<const Normalizer> characterMapNormalizer(std::string table);

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
  /// Calls `words` for each word of `word`, in order. Throws Failure when the job is stopped.
  virtual void apply(const Word& word, const std::stop_token& stop, WordSink& words) const = 0;
};

/// The treatment of the matches of a pattern.
enum class SplitBehavior {
  Removed,             ///< matches are left out
  Isolated,            ///< each match is a word
  MergedWithPrevious,  ///< a match ends a word
  MergedWithNext,      ///< a match begins a word
  Contiguous           ///< like Isolated, but neighbouring matches are one word
};

/// With `invert`, the sections between the matches of the pattern are treated as the matches.
std::unique_ptr<const PreTokenizer> splitPreTokenizer(std::unique_ptr<const TextPattern> pattern,
                                                      SplitBehavior behavior, bool invert);

/// Puts a space before a text that does not begin with one.
std::unique_ptr<const PreTokenizer> prefixSpacePreTokenizer();

enum class PrependScheme { Always, First, Never };

/// Replaces spaces by `mark`. Puts one mark before the text, by the rule of `scheme`. With `split`, splits
/// before each mark.
std::unique_ptr<const PreTokenizer> metaspacePreTokenizer(std::string mark, PrependScheme scheme, bool split);

/// Does all steps in order. Each word goes through all steps before the next word is split off. A long text
/// therefore needs no more memory than a short one. A non-empty text gives at least one word unless a step
/// removes it.
void preTokenize(const std::vector<std::unique_ptr<const PreTokenizer>>& steps, const Word& text,
                 const std::stop_token& stop, WordSink& words);

struct AddedToken {
  TokenId id = -1;
  std::string content;      ///< valid UTF-8, not empty
  bool special = false;     ///< a control piece: hides other tokens at its place in a text, but is never
                            ///< found itself
  bool normalized = false;  ///< searched in the normalized text and not in the original text
  bool singleWord = false;  ///< found only if no word character is next to it
  bool leftStrip = false;   ///< includes the white space before it
  bool rightStrip = false;  ///< includes the white space after it
};

/// Max size in bytes of an added token.
inline constexpr std::size_t kMaxAddedTokenBytes = 1024;

/// A section of a text: an added token, or text between added tokens (id −1).
struct TextPart {
  ByteRange range;
  TokenId id = -1;
};

/// Finds the leftmost token of a list in a text. Of several tokens at one place, the longest token is found.
class AddedTokenFinder {
 public:
  AddedTokenFinder();

  void add(const AddedToken& token, std::string_view spelling);

  using Found = std::function<void(const TextPart&)>;

  /// Splits the text into non-empty sections and calls `found` for each. `text` must be valid UTF-8. Throws
  /// Failure when the job is stopped.
  void split(std::string_view text, const std::stop_token& stop, const Found& found) const;

 private:
  struct Match {
    std::size_t length = 0;
    const AddedToken* token = nullptr;
  };
  static constexpr std::uint32_t kNoNode = 0;

  Match matchAt(std::string_view text, std::size_t position) const;
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;

  std::array<std::uint32_t, 256> m_first{};                     ///< children of the root, node 0
  std::unordered_map<std::uint64_t, std::uint32_t> m_children;  ///< of the other nodes, by node and byte
  std::vector<std::uint32_t> m_tokenOfNode;  ///< 1 + index of the token that ends at the node
  std::vector<AddedToken> m_tokens;
};

}  // namespace spanscope::text
