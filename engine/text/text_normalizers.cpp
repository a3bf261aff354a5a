// SPDX-License-Identifier: GPL-3.0-or-later
// The normalizers of the models Unigram and WordPiece.
#include "engine/base/utf8.h"
#include "engine/text/stop.h"
#include "engine/text/text_pipeline.h"
#include "engine/text/unicode.h"

#include <utf8proc.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

namespace spanscope::text {
namespace {

void append(std::string& text, char32_t character) {
  appendUtf8(text, character);
}

utf8proc_category_t categoryOf(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool isMark(char32_t c) {
  const utf8proc_category_t category = categoryOf(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

void appendLowercase(std::string& text, char32_t c) {
  constexpr char32_t kDottedCapitalI = 0x130;  // the only character whose small form is two characters
  if (c == kDottedCapitalI) {
    text += "i\xCC\x87";
    return;
  }
  append(text, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

/// Changes a text character by character.
class CharacterNormalizer final : public Normalizer {
 public:
  using Change = std::function<void(char32_t character, std::string& result)>;
  explicit CharacterNormalizer(Change change) : m_change(std::move(change)) {}

  std::string apply(std::string_view text, const std::stop_token& stop) const override {
    StopPoll poll(stop);
    std::string result;
    result.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); i += characterLength(text[i])) {
      poll.step();
      m_change(firstCharacter(text.substr(i)), result);
    }
    return result;
  }

 private:
  Change m_change;
};

class StripNormalizer final : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : m_left(left), m_right(right) {}

  std::string apply(std::string_view text, const std::stop_token& /*stop*/) const override {
    const auto isSpace = [](std::string_view at) {
      return characterClass(firstCharacter(at)) == CharacterClass::WhiteSpace;
    };
    while (m_left && !text.empty() && isSpace(text)) text.remove_prefix(characterLength(text.front()));
    while (m_right && !text.empty()) {
      std::size_t last = text.size() - 1;
      while (last > 0 && isUtf8Continuation(text[last])) --last;
      if (!isSpace(text.substr(last))) break;
      text = text.substr(0, last);
    }
    return std::string(text);
  }

 private:
  bool m_left;
  bool m_right;
};

bool isIdeograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// Other characters of general category C: controls, formats, private use.
bool isControlCharacter(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  switch (categoryOf(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS:
      return true;
    case UTF8PROC_CATEGORY_CN:
      return characterClass(c) == CharacterClass::Other;
    default:
      return false;
  }
}

class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(BertRules rules) : m_rules(rules) {}

  std::string apply(std::string_view text, const std::stop_token& stop) const override {
    std::string result =
        CharacterNormalizer([this](char32_t c, std::string& out) { clean(c, out); }).apply(text, stop);
    if (m_rules.stripsAccents) {
      result = normalized(result, NormalForm::D, stop);
      result = CharacterNormalizer([](char32_t c, std::string& out) {
                 if (categoryOf(c) != UTF8PROC_CATEGORY_MN) append(out, c);
               }).apply(result, stop);
    }
    if (m_rules.lowercases) result = CharacterNormalizer(lowercased).apply(result, stop);
    return result;
  }

  static void lowercased(char32_t c, std::string& result) { appendLowercase(result, c); }

 private:
  void clean(char32_t c, std::string& result) const {
    if (m_rules.cleans) {
      if (c == 0 || c == 0xFFFD || isControlCharacter(c)) return;
      if (characterClass(c) == CharacterClass::WhiteSpace) c = ' ';
    }
    const bool isSpaced = m_rules.spacesIdeographs && isIdeograph(c);
    if (isSpaced) result += ' ';
    append(result, c);
    if (isSpaced) result += ' ';
  }

  BertRules m_rules;
};

/// A double array of sentencepiece, and the texts that replace its keys.
class CharacterMap final : public Normalizer {
 public:
  CharacterMap(std::vector<std::uint32_t> units, std::string texts)
      : m_units(std::move(units)), m_texts(std::move(texts)) {}

  /// Each cluster of characters is looked up as a whole, if it is short, and then character by character.
  std::string apply(std::string_view text, const std::stop_token& stop) const override {
    constexpr std::size_t kLongestCluster = 6;
    StopPoll poll(stop);
    std::string result;
    result.reserve(text.size());
    for (std::size_t begin = 0; begin < text.size();) {
      poll.step();
      const std::string_view cluster = text.substr(begin, clusterLength(text.substr(begin)));
      begin += cluster.size();
      if (cluster.size() < kLongestCluster) {
        if (const auto found = find(cluster)) {
          result += *found;
          continue;
        }
      }
      for (std::size_t i = 0; i < cluster.size();) {
        const std::string_view character = cluster.substr(i, characterLength(cluster[i]));
        result += find(character).value_or(character);
        i += character.size();
      }
    }
    return result;
  }

 private:
  static std::size_t clusterLength(std::string_view text) {
    utf8proc_int32_t state = 0;
    std::size_t end = characterLength(text.front());
    auto before = static_cast<utf8proc_int32_t>(firstCharacter(text));
    while (end < text.size()) {
      const auto next = static_cast<utf8proc_int32_t>(firstCharacter(text.substr(end)));
      if (utf8proc_grapheme_break_stateful(before, next, &state)) break;
      end += characterLength(text[end]);
      before = next;
    }
    return end;
  }

  static std::uint32_t offsetOf(std::uint32_t unit) { return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U); }

  /// Returns the text of the shortest key that begins `key`.
  std::optional<std::string_view> find(std::string_view key) const {
    std::size_t node = offsetOf(m_units.front());
    for (const char c : key) {
      const auto byte = static_cast<std::uint32_t>(static_cast<unsigned char>(c));
      if (byte == 0) return std::nullopt;
      node ^= byte;
      if (node >= m_units.size()) return std::nullopt;
      const std::uint32_t unit = m_units[node];
      if ((unit & ((1U << 31U) | 0xFFU)) != byte) return std::nullopt;
      node ^= offsetOf(unit);
      if (node >= m_units.size()) return std::nullopt;
      if ((unit >> 8U & 1U) == 0) continue;
      const std::size_t begin = m_units[node] & ((1U << 31U) - 1);
      if (begin >= m_texts.size()) return std::nullopt;
      return std::string_view(m_texts).substr(begin, m_texts.find('\0', begin) - begin);
    }
    return std::nullopt;
  }

  std::vector<std::uint32_t> m_units;
  std::string m_texts;
};

}  // namespace

std::unique_ptr<const Normalizer> lowercaseNormalizer() {
  return std::make_unique<CharacterNormalizer>(BertNormalizer::lowercased);
}

std::unique_ptr<const Normalizer> stripNormalizer(bool left, bool right) {
  return std::make_unique<StripNormalizer>(left, right);
}

std::unique_ptr<const Normalizer> marksNormalizer() {
  return std::make_unique<CharacterNormalizer>([](char32_t c, std::string& result) {
    if (!isMark(c)) append(result, c);
  });
}

std::unique_ptr<const Normalizer> bertNormalizer(BertRules rules) {
  return std::make_unique<BertNormalizer>(rules);
}

std::unique_ptr<const Normalizer> characterMapNormalizer(std::string table) {
  const auto numberAt = [&table](std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i)
      number |= static_cast<std::uint32_t>(static_cast<unsigned char>(table[at + i])) << (8 * i);
    return number;
  };
  if (table.size() < 8) return nullptr;
  const std::size_t bytes = numberAt(0);
  if (bytes == 0 || bytes % 4 != 0 || bytes > table.size() - 4) return nullptr;
  std::vector<std::uint32_t> units;
  units.reserve(bytes / 4);
  for (std::size_t at = 4; at < 4 + bytes; at += 4) units.push_back(numberAt(at));
  std::string texts = table.substr(4 + bytes);
  if (!isValidUtf8(texts)) return nullptr;
  return std::make_unique<CharacterMap>(std::move(units), std::move(texts));
}

}  // namespace spanscope::text
