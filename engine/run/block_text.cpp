// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/block_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::run {
namespace {

constexpr std::size_t kMostBytes = 64;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Templates such as ChatML write "user" and a line break behind the control piece that opens a message.
void dropRole(std::string& text) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c < 'a' || c > 'z'; });
  if (end != text.begin() && end != text.end() && *end == '\n') text.erase(text.begin(), end);
}

std::string inOneLine(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool isSpace = std::isspace(byte) != 0 || std::iscntrl(byte) != 0;
    if (!isSpace)
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

/// Drops the rest of a character that began in the block before, or goes on in the next one.
void dropHalfCharacters(std::string& text) {
  while (text.starts_with(kReplacement)) text.erase(0, kReplacement.size());
  while (text.ends_with(kReplacement)) text.erase(text.size() - kReplacement.size());
}

void cut(std::string& text) {
  if (text.size() <= kMostBytes) return;
  std::size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
}

}  // namespace

std::string blockText(const text::Tokenizer& tokenizer, std::span<const TokenId> tokens) {
  std::string longest;
  std::vector<TokenId> piece;
  bool isAfterControl = false;
  const auto finish = [&] {
    std::string text = tokenizer.decode(piece);
    piece.clear();
    if (isAfterControl) dropRole(text);
    dropHalfCharacters(text);
    text = inOneLine(text);
    if (text.size() > longest.size()) longest = std::move(text);
  };
  for (const TokenId token : tokens) {
    if (!tokenizer.isControl(token)) {
      piece.push_back(token);
      continue;
    }
    finish();
    isAfterControl = true;
  }
  finish();
  cut(longest);
  return longest;
}

}  // namespace spanscope::run
