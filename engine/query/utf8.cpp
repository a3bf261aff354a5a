// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace spanscope::query {
namespace {

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Length of the well-formed sequence at the front of `text`, 0 if there is none. `text` is not empty.
std::size_t sequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  if (second < low || second > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!isContinuation(text[i])) return 0;
  }
  return length;
}

}  // namespace

std::size_t findInvalidUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (text.size() - i >= sizeof(std::uint64_t)) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const std::size_t length = sequenceLength(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::size_t countCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !isContinuation(c); }));
}

std::string cutText(std::string_view text, std::size_t characters) {
  std::string cut;
  std::size_t count = 0;
  std::size_t beforeLast = 0;
  for (const char c : text) {
    if (!isContinuation(c)) {
      if (count == characters) {
        cut.resize(beforeLast);
        cut += "…";
        return cut;
      }
      beforeLast = cut.size();
      ++count;
    }
    const auto byte = static_cast<unsigned char>(c);
    cut += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return cut;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShownCharacters = 40;
  return "\"" + cutText(text.substr(0, 8 * kShownCharacters), kShownCharacters) + "\"";
}

void appendUtf8(std::string& text, unsigned code) {
  const auto add = [&text](unsigned byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | (code >> 6U));
    add(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    add(0xE0U | (code >> 12U));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  } else {
    add(0xF0U | (code >> 18U));
    add(0x80U | ((code >> 12U) & 0x3FU));
    add(0x80U | ((code >> 6U) & 0x3FU));
    add(0x80U | (code & 0x3FU));
  }
}

}  // namespace spanscope::query
