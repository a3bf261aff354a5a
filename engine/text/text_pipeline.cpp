// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/text_pipeline.h"

#include "engine/base/utf8.h"
#include "engine/text/stop.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace spanscope::text {

namespace {

std::string replaceAll(std::string_view text, const TextPattern& pattern, std::string_view with,
                       const std::stop_token& stop) {
  std::string result;
  std::size_t done = 0;
  pattern.find(text, stop, [&](ByteRange place) {
    result += text.substr(done, place.begin - done);
    result += with;
    done = place.end;
  });
  result += text.substr(done);
  return result;
}

class UnicodeNormalizer final : public Normalizer {
 public:
  explicit UnicodeNormalizer(NormalForm form) : m_form(form) {}
  std::string apply(std::string_view text, const std::stop_token& stop) const override {
    return normalized(text, m_form, stop);
  }

 private:
  NormalForm m_form;
};

class PrependNormalizer final : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : m_prefix(std::move(prefix)) {}
  std::string apply(std::string_view text, const std::stop_token& /*stop*/) const override {
    return text.empty() ? std::string() : m_prefix + std::string(text);
  }

 private:
  std::string m_prefix;
};

class ReplaceNormalizer final : public Normalizer {
 public:
  ReplaceNormalizer(std::unique_ptr<const TextPattern> pattern, std::string replacement)
      : m_pattern(std::move(pattern)), m_replacement(std::move(replacement)) {}
  std::string apply(std::string_view text, const std::stop_token& stop) const override {
    return replaceAll(text, *m_pattern, m_replacement, stop);
  }

 private:
  std::unique_ptr<const TextPattern> m_pattern;
  std::string m_replacement;
};

/// Splits a word at the matches of a pattern. Joins matches and the text between matches, as `behavior`
/// requires. Passes on a word as soon as no later text can join it.
class WordCutter {
 public:
  WordCutter(const Word& word, SplitBehavior behavior, bool invert, WordSink& words)
      : m_word(word), m_behavior(behavior), m_invert(invert), m_words(words) {}

  void found(ByteRange place) {
    if (place.begin > m_done) add({m_done, place.begin}, m_invert);
    add(place, !m_invert);
    m_done = place.end;
  }

  void finish() {
    if (m_done < m_word.text.size()) add({m_done, m_word.text.size()}, m_invert);
    give();
  }

 private:
  /// Adds a match of the pattern, or the text between two matches.
  void add(ByteRange range, bool matched) {
    if (m_behavior == SplitBehavior::Removed && matched) return;
    const bool joins = m_open && joinsLast(matched);
    m_lastMatched = matched;
    if (joins) {
      m_open->end = range.end;
      return;
    }
    give();
    m_open = range;
  }

  bool joinsLast(bool matched) const {
    switch (m_behavior) {
      case SplitBehavior::MergedWithPrevious:
        return matched && !m_lastMatched;
      case SplitBehavior::MergedWithNext:
        return !matched && m_lastMatched;
      case SplitBehavior::Contiguous:
        return matched == m_lastMatched;
      case SplitBehavior::Removed:
      case SplitBehavior::Isolated:
        break;
    }
    return false;
  }

  void give() {
    if (!m_open) return;
    m_words.take({m_word.text.substr(m_open->begin, m_open->end - m_open->begin),
                  m_word.beginsText && m_open->begin == 0});
    m_open.reset();
  }

  const Word& m_word;
  SplitBehavior m_behavior;
  bool m_invert;
  WordSink& m_words;
  std::size_t m_done = 0;
  std::optional<ByteRange> m_open;  ///< a word that later text may join
  bool m_lastMatched = false;       ///< what was added last
};

void cut(const Word& word, const TextPattern& pattern, SplitBehavior behavior, bool invert,
         const std::stop_token& stop, WordSink& words) {
  WordCutter cutter(word, behavior, invert, words);
  pattern.find(word.text, stop, [&cutter](ByteRange place) { cutter.found(place); });
  cutter.finish();
}

class SplitPreTokenizer final : public PreTokenizer {
 public:
  SplitPreTokenizer(std::unique_ptr<const TextPattern> pattern, SplitBehavior behavior, bool invert)
      : m_pattern(std::move(pattern)), m_behavior(behavior), m_invert(invert) {}

  void apply(const Word& word, const std::stop_token& stop, WordSink& words) const override {
    cut(word, *m_pattern, m_behavior, m_invert, stop, words);
  }

 private:
  std::unique_ptr<const TextPattern> m_pattern;
  SplitBehavior m_behavior;
  bool m_invert;
};

class PrefixSpacePreTokenizer final : public PreTokenizer {
 public:
  void apply(const Word& word, const std::stop_token& /*stop*/, WordSink& words) const override {
    if (word.text.front() == ' ') {
      words.take(word);
    } else {
      const std::string spaced = " " + std::string(word.text);
      words.take({spaced, word.beginsText});
    }
  }
};

class MetaspacePreTokenizer final : public PreTokenizer {
 public:
  MetaspacePreTokenizer(std::string mark, PrependScheme scheme, bool split)
      : m_mark(std::move(mark)),
        m_scheme(scheme),
        m_split(split),
        m_space(literalPattern(" ")),
        m_marks(literalPattern(m_mark)) {}

  void apply(const Word& word, const std::stop_token& stop, WordSink& words) const override {
    std::string text = replaceAll(word.text, *m_space, m_mark, stop);
    const bool prepends =
        m_scheme == PrependScheme::Always || (m_scheme == PrependScheme::First && word.beginsText);
    if (prepends && text.compare(0, m_mark.size(), m_mark) != 0) text.insert(0, m_mark);
    const Word marked{text, word.beginsText};
    if (m_split) {
      cut(marked, *m_marks, SplitBehavior::MergedWithNext, false, stop, words);
    } else {
      words.take(marked);
    }
  }

 private:
  std::string m_mark;
  PrependScheme m_scheme;
  bool m_split;
  std::unique_ptr<const TextPattern> m_space;
  std::unique_ptr<const TextPattern> m_marks;
};

/// Gives each word to a step, and the step's words to the next sink.
class StepSink final : public WordSink {
 public:
  StepSink(const PreTokenizer& step, const std::stop_token& stop, WordSink& next)
      : m_step(step), m_stop(stop), m_next(next) {}
  void take(const Word& word) override { m_step.apply(word, m_stop, m_next); }

 private:
  const PreTokenizer& m_step;
  const std::stop_token& m_stop;
  WordSink& m_next;
};

}  // namespace

std::unique_ptr<const Normalizer> unicodeNormalizer(NormalForm form) {
  return std::make_unique<UnicodeNormalizer>(form);
}

std::unique_ptr<const Normalizer> prependNormalizer(std::string prefix) {
  return std::make_unique<PrependNormalizer>(std::move(prefix));
}

std::unique_ptr<const Normalizer> replaceNormalizer(std::unique_ptr<const TextPattern> pattern,
                                                    std::string replacement) {
  return std::make_unique<ReplaceNormalizer>(std::move(pattern), std::move(replacement));
}

std::unique_ptr<const PreTokenizer> splitPreTokenizer(std::unique_ptr<const TextPattern> pattern,
                                                      SplitBehavior behavior, bool invert) {
  return std::make_unique<SplitPreTokenizer>(std::move(pattern), behavior, invert);
}

std::unique_ptr<const PreTokenizer> prefixSpacePreTokenizer() {
  return std::make_unique<PrefixSpacePreTokenizer>();
}

std::unique_ptr<const PreTokenizer> metaspacePreTokenizer(std::string mark, PrependScheme scheme,
                                                          bool split) {
  return std::make_unique<MetaspacePreTokenizer>(std::move(mark), scheme, split);
}

void preTokenize(const std::vector<std::unique_ptr<const PreTokenizer>>& steps, const Word& text,
                 const std::stop_token& stop, WordSink& words) {
  if (text.text.empty()) return;
  std::vector<StepSink> sinks;
  sinks.reserve(steps.size());
  WordSink* next = &words;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    next = &sinks.emplace_back(**step, stop, *next);
  next->take(text);
}

namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// A text as characters, each named by the offset of its first byte. Nothing is stored. A text may be long,
/// and most characters are read once or twice.
class Characters {
 public:
  /// Text and stop token must outlive this object.
  Characters(std::string_view text, const std::stop_token& stop) : m_text(text), m_poll(stop) {}

  std::size_t size() const { return m_text.size(); }
  /// 0 beyond the end.
  char32_t at(std::size_t i) const { return i < size() ? firstCharacter(m_text.substr(i)) : 0; }
  /// The class of any byte, also within a character.
  char32_t byteAt(std::size_t i) const { return static_cast<unsigned char>(m_text[i]); }
  bool is(std::size_t i, CharacterClass wanted) const {
    return i < size() && characterClass(at(i)) == wanted;
  }

  /// The character after the character at i.
  std::size_t after(std::size_t i) const {
    do ++i;
    while (i < size() && isUtf8Continuation(m_text[i]));
    return i;
  }
  /// The character before i, which is not the first.
  std::size_t before(std::size_t i) const {
    do --i;
    while (i > 0 && isUtf8Continuation(m_text[i]));
    return i;
  }

  /// Returns where the run of a class that begins at i ends. At most `most` characters are counted.
  std::size_t endOfRun(std::size_t i, CharacterClass wanted, std::size_t most = kNoLimit) {
    for (; most > 0 && is(i, wanted); --most) {
      m_poll.step();
      i = after(i);
    }
    return i;
  }

 private:
  std::string_view m_text;
  StopPoll m_poll;
};

bool isLineEnd(char32_t c) {
  return c == '\r' || c == '\n';
}

/// Folds case as far as contractions need it. U+017F is an old form of s.
char32_t foldedLetter(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c - 'A' + 'a';
  return c == 0x17F ? U's' : c;
}

/// Returns where the English contraction ('s 't 're 've 'm 'll 'd) at i ends; i if there is none.
std::size_t endOfContraction(const Characters& text, std::size_t i, bool anyCase) {
  if (text.at(i) != '\'' || i + 1 >= text.size()) return i;
  const auto letter = [&](std::size_t k) { return anyCase ? foldedLetter(text.at(k)) : text.at(k); };
  const char32_t first = letter(i + 1);
  const std::size_t afterFirst = text.after(i + 1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return afterFirst;
  const char32_t second = letter(afterFirst);
  const bool isLong = ((first == 'r' || first == 'v') && second == 'e') || (first == 'l' && second == 'l');
  return isLong ? text.after(afterFirst) : i;
}

/// Returns the end of white space. The last white-space character belongs to the following word, if there is
/// a word.
std::size_t endOfWhiteSpace(Characters& text, std::size_t i) {
  const std::size_t end = text.endOfRun(i, CharacterClass::WhiteSpace);
  const std::size_t last = text.before(end);
  return end == text.size() || last == i ? end : last;
}

std::size_t endOfGpt2Word(Characters& text, std::size_t i) {
  if (const std::size_t end = endOfContraction(text, i, false); end > i) return end;
  const std::size_t word = text.at(i) == ' ' ? i + 1 : i;
  for (const auto kind : {CharacterClass::Letter, CharacterClass::Number, CharacterClass::Other}) {
    if (text.is(word, kind)) return text.endOfRun(word, kind);
  }
  return endOfWhiteSpace(text, i);
}

/// Returns the end of a word that begins with something other than white space, or with the one character of
/// white space before letters or symbols. Returns i if there is no such word.
std::size_t endOfLlama3WordAlone(Characters& text, std::size_t i, std::size_t digits) {
  if (const std::size_t end = endOfContraction(text, i, true); end > i) return end;
  const bool isLetter = text.is(i, CharacterClass::Letter);
  const bool isNumber = text.is(i, CharacterClass::Number);
  const bool leads = !isLetter && !isNumber && !isLineEnd(text.at(i));
  if (isLetter || (leads && text.is(text.after(i), CharacterClass::Letter))) {
    return text.endOfRun(text.after(i), CharacterClass::Letter);
  }
  if (isNumber) return text.endOfRun(i, CharacterClass::Number, digits);
  const std::size_t symbol = text.at(i) == ' ' ? i + 1 : i;
  if (text.is(symbol, CharacterClass::Other)) {
    std::size_t end = text.endOfRun(symbol, CharacterClass::Other);
    while (end < text.size() && isLineEnd(text.at(end))) ++end;
    return end;
  }
  return i;
}

std::size_t endOfLlama3Word(Characters& text, std::size_t i, std::size_t digits) {
  if (const std::size_t end = endOfLlama3WordAlone(text, i, digits); end > i) return end;
  for (std::size_t end = text.endOfRun(i, CharacterClass::WhiteSpace); end > i; --end) {
    if (isLineEnd(text.byteAt(end - 1))) return end;
  }
  return endOfWhiteSpace(text, i);
}

/// Words of Jais 2. White space is split into pieces, so the end of its run is found only once.
class Jais2Words {
 public:
  std::size_t endOfWord(Characters& text, std::size_t i) {
    constexpr std::size_t kDigits = 3;
    if (const std::size_t end = endOfLlama3WordAlone(text, i, kDigits); end > i) return end;
    if (i >= m_end) findRun(text, i);
    if (m_lineEnd > i) {
      while (i < m_lineEnd) {
        i = text.after(i);
        --m_left;
      }
      return i;
    }
    std::size_t piece = 512;
    while (piece > 1 && !fits(text, piece)) piece /= 2;
    m_left -= piece;
    for (; piece > 0; --piece) i = text.after(i);
    return i;
  }

 private:
  void findRun(Characters& text, std::size_t i) {
    m_left = 0;
    m_lineEnd = i;
    for (m_end = i; text.is(m_end, CharacterClass::WhiteSpace); ++m_left) {
      const bool isLine = isLineEnd(text.at(m_end));
      m_end = text.after(m_end);
      if (isLine) m_lineEnd = m_end;
    }
  }
  /// Whether a piece is followed by white space or by the end of the text.
  bool fits(const Characters& text, std::size_t piece) const {
    return m_left > piece || (m_left == piece && m_end == text.size());
  }

  std::size_t m_end = 0;      ///< of the run
  std::size_t m_lineEnd = 0;  ///< after the last line end in the run
  std::size_t m_left = 0;     ///< characters of the run that are not in a piece yet
};

class KnownWordPattern final : public TextPattern {
 public:
  explicit KnownWordPattern(WordPattern pattern) : m_pattern(pattern) {}

  void find(std::string_view bytes, const std::stop_token& stop, const Found& found) const override {
    Characters text(bytes, stop);
    StopPoll poll(stop);
    Jais2Words jais;
    for (std::size_t i = 0; i < text.size();) {
      poll.step();
      const std::size_t end = m_pattern == WordPattern::Jais2 ? jais.endOfWord(text, i) : endOfWord(text, i);
      found({i, end});
      i = end;
    }
  }

 private:
  std::size_t endOfWord(Characters& text, std::size_t i) const {
    if (m_pattern == WordPattern::Gpt2) return endOfGpt2Word(text, i);
    return endOfLlama3Word(text, i, m_pattern == WordPattern::Llama3 ? 3 : 1);
  }

  WordPattern m_pattern;
};

class DigitsPattern final : public TextPattern {
 public:
  explicit DigitsPattern(bool individual) : m_individual(individual) {}

  void find(std::string_view bytes, const std::stop_token& stop, const Found& found) const override {
    Characters text(bytes, stop);
    StopPoll poll(stop);
    for (std::size_t i = 0; i < text.size();) {
      poll.step();
      const std::size_t end = text.endOfRun(i, CharacterClass::Number, m_individual ? 1 : kNoLimit);
      if (end > i) found({i, end});
      i = end > i ? end : text.after(i);
    }
  }

 private:
  bool m_individual;
};

class DigitGroupsPattern final : public TextPattern {
 public:
  explicit DigitGroupsPattern(DigitGroups groups) : m_groups(groups) {}

  void find(std::string_view bytes, const std::stop_token& stop, const Found& found) const override {
    Characters text(bytes, stop);
    StopPoll poll(stop);
    std::optional<std::size_t> open;  // the begin of a match that ends at the next begin
    for (std::size_t i = 0; i < text.size();) {
      poll.step();
      const Run run = runAt(text, i, poll);
      if (run.digits == 0) {
        i = text.after(i);
        continue;
      }
      if (m_groups == DigitGroups::Begins) {
        forEachGroup(text, i, run, poll, [&](ByteRange group, bool isWhole) {
          if (!isWhole) return;
          if (open && *open < group.begin) found({*open, group.begin});
          open = group.begin;
        });
      } else if (m_groups == DigitGroups::Numbers || run.end == text.size() ||
                 !isWordOfExpressions(text.at(run.end))) {
        forEachGroup(text, i, run, poll, [&](ByteRange group, bool /*isWhole*/) { found(group); });
      }
      i = run.end;
    }
    if (open) found({*open, text.size()});
  }

 private:
  struct Run {
    std::size_t end = 0;
    std::size_t digits = 0;
  };

  /// Regular expressions also count the superscripts and fractions of Latin-1 as word characters.
  static bool isWordOfExpressions(char32_t c) {
    return isWordCharacter(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || (c >= 0xBC && c <= 0xBE);
  }

  bool isDigit(const Characters& text, std::size_t i) const {
    if (m_groups == DigitGroups::Numbers) return text.is(i, CharacterClass::Number);
    return i < text.size() && isDecimalDigit(text.at(i));
  }

  Run runAt(const Characters& text, std::size_t i, StopPoll& poll) const {
    Run run{i, 0};
    for (; isDigit(text, run.end); run.end = text.after(run.end)) {
      poll.step();
      ++run.digits;
    }
    return run;
  }

  /// Calls `take` for each group of a run, and whether the group has three digits.
  template <class Take>
  static void forEachGroup(const Characters& text, std::size_t begin, const Run& run, StopPoll& poll,
                           const Take& take) {
    constexpr std::size_t kGroup = 3;
    std::size_t most = run.digits % kGroup == 0 ? kGroup : run.digits % kGroup;
    while (begin < run.end) {
      std::size_t end = begin;
      for (std::size_t k = 0; k < most; ++k) end = text.after(end);
      poll.step();
      take({begin, end}, most == kGroup);
      begin = end;
      most = kGroup;
    }
  }

  DigitGroups m_groups;
};

class LiteralPattern final : public TextPattern {
 public:
  explicit LiteralPattern(std::string literal) : m_literal(std::move(literal)) {}

  void find(std::string_view text, const std::stop_token& stop, const Found& found) const override {
    StopPoll poll(stop);
    std::size_t position = 0;
    while ((position = text.find(m_literal, position)) != std::string_view::npos) {
      poll.step();
      found({position, position + m_literal.size()});
      position += m_literal.size();
    }
  }

 private:
  std::string m_literal;
};

}  // namespace

std::vector<ByteRange> TextPattern::findAll(std::string_view text) const {
  std::vector<ByteRange> ranges;
  find(text, {}, [&ranges](ByteRange range) { ranges.push_back(range); });
  return ranges;
}

std::unique_ptr<const TextPattern> wordPattern(WordPattern pattern) {
  return std::make_unique<KnownWordPattern>(pattern);
}

std::unique_ptr<const TextPattern> digitsPattern(bool individual) {
  return std::make_unique<DigitsPattern>(individual);
}

std::unique_ptr<const TextPattern> digitGroupsPattern(DigitGroups groups) {
  return std::make_unique<DigitGroupsPattern>(groups);
}

std::unique_ptr<const TextPattern> literalPattern(std::string literal) {
  return std::make_unique<LiteralPattern>(std::move(literal));
}

namespace {

/// Returns where the last character before `end` begins; `end` > 0.
std::size_t lastCharacterBegin(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while (begin > 0 && isUtf8Continuation(text[begin])) --begin;
  return begin;
}

bool endsWithWord(std::string_view text) {
  return !text.empty() && isWordCharacter(firstCharacter(text.substr(lastCharacterBegin(text, text.size()))));
}

bool startsWithWord(std::string_view text) {
  return !text.empty() && isWordCharacter(firstCharacter(text));
}

bool startsWithSpace(std::string_view text) {
  return !text.empty() && characterClass(firstCharacter(text)) == CharacterClass::WhiteSpace;
}

/// Returns where the white space that ends at `end` begins, but at least `least`.
std::size_t beginOfSpace(std::string_view text, std::size_t least, std::size_t end) {
  while (end > least) {
    const std::size_t begin = lastCharacterBegin(text, end);
    if (begin < least || !startsWithSpace(text.substr(begin))) break;
    end = begin;
  }
  return end;
}

std::size_t endOfSpace(std::string_view text, std::size_t begin) {
  while (startsWithSpace(text.substr(begin))) begin += nextUtf8(text.substr(begin)).length;
  return begin;
}

bool standsAlone(std::string_view text, std::size_t begin, std::size_t end) {
  return !endsWithWord(text.substr(0, begin)) && !startsWithWord(text.substr(end));
}

}  // namespace

AddedTokenFinder::AddedTokenFinder() : m_tokenOfNode(1, 0) {}

std::uint32_t AddedTokenFinder::child(std::uint32_t node, unsigned char byte) const {
  if (node == 0) return m_first[byte];
  const auto found = m_children.find((std::uint64_t{node} << 8U) | byte);
  return found == m_children.end() ? kNoNode : found->second;
}

void AddedTokenFinder::add(const AddedToken& token, std::string_view spelling) {
  if (spelling.empty()) return;
  std::uint32_t node = 0;
  for (const char c : spelling) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t next = child(node, byte);
    if (next == kNoNode) {
      next = static_cast<std::uint32_t>(m_tokenOfNode.size());
      m_tokenOfNode.push_back(0);
      if (node == 0) {
        m_first[byte] = next;
      } else {
        m_children.emplace((std::uint64_t{node} << 8U) | byte, next);
      }
    }
    node = next;
  }
  if (m_tokenOfNode[node] != 0) return;
  m_tokens.push_back(token);
  m_tokenOfNode[node] = static_cast<std::uint32_t>(m_tokens.size());
}

AddedTokenFinder::Match AddedTokenFinder::matchAt(std::string_view text, std::size_t position) const {
  Match match;
  std::uint32_t node = 0;
  for (std::size_t i = position; i < text.size(); ++i) {
    node = child(node, static_cast<unsigned char>(text[i]));
    if (node == kNoNode) break;
    if (m_tokenOfNode[node] != 0) match = {i + 1 - position, &m_tokens[m_tokenOfNode[node] - 1]};
  }
  return match;
}

void AddedTokenFinder::split(std::string_view text, const std::stop_token& stop, const Found& found) const {
  StopPoll poll(stop);
  std::size_t done = 0;
  std::size_t position = m_tokens.empty() ? text.size() : 0;
  while (position < text.size()) {
    poll.step();
    if (m_first[static_cast<unsigned char>(text[position])] == kNoNode) {
      ++position;
      continue;
    }
    const Match match = matchAt(text, position);
    if (match.token == nullptr) {
      ++position;
      continue;
    }
    std::size_t begin = position;
    std::size_t end = position + match.length;
    position = end;
    const AddedToken& token = *match.token;
    if (token.special) continue;
    if (token.singleWord && !standsAlone(text, begin, end)) continue;
    if (token.leftStrip) begin = beginOfSpace(text, std::min(done, begin), begin);
    if (token.rightStrip) end = endOfSpace(text, end);
    if (begin > done) found({{done, begin}, -1});
    // White space that the previous token took is searched again. Hugging Face's library does the same, and
    // defines the result.
    found({{begin, end}, token.id});
    done = end;
  }
  if (done < text.size()) found({{done, text.size()}, -1});
}

}  // namespace spanscope::text
