// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/text/stop.h"
#include "engine/text/text_pattern.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace spanscope::text {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// A text as characters, each named by the offset of its first byte. Nothing is kept of them: a text may be
/// long, and most characters are looked at once or twice.
class Characters {
 public:
  /// Both must outlive it.
  Characters(std::string_view text, const std::stop_token& stop) : m_text(text), m_poll(stop) {}

  std::size_t size() const { return m_text.size(); }
  /// 0 beyond the end.
  char32_t at(std::size_t i) const { return i < size() ? firstCharacter(m_text.substr(i)) : 0; }
  /// Of any byte, also within a character.
  char32_t byteAt(std::size_t i) const { return static_cast<unsigned char>(m_text[i]); }
  bool is(std::size_t i, CharacterClass wanted) const {
    return i < size() && characterClass(at(i)) == wanted;
  }

  /// The character after that at i.
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

  /// Where the run of a class that begins at i ends, after `most` characters at the latest.
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

/// Case folding as far as contractions need it; U+017F is an old form of s.
char32_t foldedLetter(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c - 'A' + 'a';
  return c == 0x17F ? U's' : c;
}

/// Where the English contraction ('s 't 're 've 'm 'll 'd) at i ends; i if there is none.
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

/// White space, of which the last character is left to the word that follows, if one does.
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

std::size_t endOfLlama3Word(Characters& text, std::size_t i, std::size_t digits) {
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
  for (std::size_t end = text.endOfRun(i, CharacterClass::WhiteSpace); end > i; --end) {
    if (isLineEnd(text.byteAt(end - 1))) return end;
  }
  return endOfWhiteSpace(text, i);
}

class KnownWordPattern final : public TextPattern {
 public:
  explicit KnownWordPattern(WordPattern pattern) : m_pattern(pattern) {}

  void find(std::string_view bytes, const std::stop_token& stop, const Found& found) const override {
    Characters text(bytes, stop);
    StopPoll poll(stop);
    for (std::size_t i = 0; i < text.size();) {
      poll.step();
      const std::size_t end = endOfWord(text, i);
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

std::unique_ptr<const TextPattern> literalPattern(std::string literal) {
  return std::make_unique<LiteralPattern>(std::move(literal));
}

}  // namespace spanscope::text
