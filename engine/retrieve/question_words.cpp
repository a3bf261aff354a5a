// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/question_words.h"

#include <algorithm>
#include <set>

namespace spanscope::retrieve {
namespace {

/// Bytes that words are made of: letters and digits of ASCII, and everything beyond it, which FTS5's own
/// tokenizer takes apart further.
bool isWordByte(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         static_cast<unsigned char>(byte) >= 0x80U;
}

}  // namespace

std::string matchAnyWord(std::string_view text, std::size_t count) {
  std::string expression;
  std::set<std::string, std::less<>> seen;
  const auto* at = text.begin();
  while (at != text.end() && seen.size() < count) {
    const auto* const begin = std::find_if(at, text.end(), isWordByte);
    at = std::find_if_not(begin, text.end(), isWordByte);
    if (begin == at) continue;
    std::string word(begin, at);
    std::transform(word.begin(), word.end(), word.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    if (!seen.insert(word).second) continue;
    if (!expression.empty()) expression += " OR ";
    expression += '"' + word + '"';
  }
  return expression;
}

}  // namespace spanscope::retrieve
