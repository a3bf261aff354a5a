// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"
#include "engine/text/text_pattern.h"
#include "engine/text/unicode.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace spanscope::text {
namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// A text as characters with their classes, so that looking ahead costs nothing.
class Characters {
 public:
  explicit Characters(std::string_view text) {
    m_characters.reserve(text.size());
    m_classes.reserve(text.size());
    m_offsets.reserve(text.size() + 1);
    std::size_t offset = 0;
    while (offset < text.size()) {
      const char32_t c = firstCharacter(text.substr(offset));
      m_characters.push_back(c);
      m_classes.push_back(characterClass(c));
      m_offsets.push_back(offset);
      offset += nextUtf8(text.substr(offset)).length;
    }
    m_offsets.push_back(offset);
  }

  std::size_t size() const { return m_characters.size(); }
  std::size_t offset(std::size_t i) const { return m_offsets[i]; }
  /// 0 beyond the end.
  char32_t at(std::size_t i) const { return i < size() ? m_characters[i] : 0; }
  bool is(std::size_t i, CharacterClass wanted) const { return i < size() && m_classes[i] == wanted; }

  /// Where the run of a class that begins at i ends, after `most` characters at the latest.
  std::size_t endOfRun(std::size_t i, CharacterClass wanted, std::size_t most = kNoLimit) const {
    const std::size_t last = size() - i < most ? size() : i + most;
    while (i < last && m_classes[i] == wanted) ++i;
    return i;
  }

 private:
  std::vector<char32_t> m_characters;
  std::vector<CharacterClass> m_classes;
  std::vector<std::size_t> m_offsets;
};

bool isLineEnd(char32_t c) {
  return c == '\r' || c == '\n';
}

/// Case folding as far as contractions need it; U+017F is an old form of s.
char32_t foldedLetter(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c - 'A' + 'a';
  return c == 0x17F ? U's' : c;
}

/// Characters of the English contraction ('s 't 're 've 'm 'll 'd) at i; 0 if there is none.
std::size_t contractionLength(const Characters& text, std::size_t i, bool anyCase) {
  if (text.at(i) != '\'') return 0;
  const auto letter = [&](std::size_t k) { return anyCase ? foldedLetter(text.at(k)) : text.at(k); };
  const char32_t first = letter(i + 1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  const char32_t second = letter(i + 2);
  if ((first == 'r' || first == 'v') && second == 'e') return 3;
  return first == 'l' && second == 'l' ? 3 : 0;
}

/// White space, of which the last character is left to the word that follows, if one does.
std::size_t endOfWhiteSpace(const Characters& text, std::size_t i) {
  const std::size_t end = text.endOfRun(i, CharacterClass::WhiteSpace);
  return end == text.size() || end - i == 1 ? end : end - 1;
}

std::size_t endOfGpt2Word(const Characters& text, std::size_t i) {
  if (const std::size_t length = contractionLength(text, i, false)) return i + length;
  const std::size_t word = text.at(i) == ' ' ? i + 1 : i;
  for (const auto kind : {CharacterClass::Letter, CharacterClass::Number, CharacterClass::Other}) {
    if (text.is(word, kind)) return text.endOfRun(word, kind);
  }
  return endOfWhiteSpace(text, i);
}

std::size_t endOfLlama3Word(const Characters& text, std::size_t i, std::size_t digits) {
  if (const std::size_t length = contractionLength(text, i, true)) return i + length;
  const bool isLetter = text.is(i, CharacterClass::Letter);
  const bool isNumber = text.is(i, CharacterClass::Number);
  const bool leads = !isLetter && !isNumber && !isLineEnd(text.at(i));
  if (isLetter || (leads && text.is(i + 1, CharacterClass::Letter))) {
    return text.endOfRun(i + 1, CharacterClass::Letter);
  }
  if (isNumber) return text.endOfRun(i, CharacterClass::Number, digits);
  const std::size_t symbol = text.at(i) == ' ' ? i + 1 : i;
  if (text.is(symbol, CharacterClass::Other)) {
    std::size_t end = text.endOfRun(symbol, CharacterClass::Other);
    while (end < text.size() && isLineEnd(text.at(end))) ++end;
    return end;
  }
  for (std::size_t end = text.endOfRun(i, CharacterClass::WhiteSpace); end > i; --end) {
    if (isLineEnd(text.at(end - 1))) return end;
  }
  return endOfWhiteSpace(text, i);
}

class KnownWordPattern final : public TextPattern {
 public:
  explicit KnownWordPattern(WordPattern pattern) : m_pattern(pattern) {}

  std::vector<ByteRange> findAll(std::string_view bytes) const override {
    const Characters text(bytes);
    std::vector<ByteRange> words;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end = endOfWord(text, i);
      words.push_back({text.offset(i), text.offset(end)});
      i = end;
    }
    return words;
  }

 private:
  std::size_t endOfWord(const Characters& text, std::size_t i) const {
    if (m_pattern == WordPattern::Gpt2) return endOfGpt2Word(text, i);
    return endOfLlama3Word(text, i, m_pattern == WordPattern::Llama3 ? 3 : 1);
  }

  WordPattern m_pattern;
};

class DigitsPattern final : public TextPattern {
 public:
  explicit DigitsPattern(bool individual) : m_individual(individual) {}

  std::vector<ByteRange> findAll(std::string_view bytes) const override {
    const Characters text(bytes);
    std::vector<ByteRange> numbers;
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end = text.endOfRun(i, CharacterClass::Number, m_individual ? 1 : kNoLimit);
      if (end > i) numbers.push_back({text.offset(i), text.offset(end)});
      i = std::max(end, i + 1);
    }
    return numbers;
  }

 private:
  bool m_individual;
};

class LiteralPattern final : public TextPattern {
 public:
  explicit LiteralPattern(std::string literal) : m_literal(std::move(literal)) {}

  std::vector<ByteRange> findAll(std::string_view text) const override {
    std::vector<ByteRange> found;
    std::size_t position = 0;
    while ((position = text.find(m_literal, position)) != std::string_view::npos) {
      found.push_back({position, position + m_literal.size()});
      position += m_literal.size();
    }
    return found;
  }

 private:
  std::string m_literal;
};

}  // namespace

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
