// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace spanscope {
namespace {

/// The lead byte says how long a character is and which second bytes keep it shortest, no surrogate and in
/// range.
struct Lead {
  std::size_t length = 0;
  unsigned secondLow = 0x80;
  unsigned secondHigh = 0xBF;
};

Lead leadOf(unsigned byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Step nextUtf8(std::string_view bytes) {
  const Lead lead = leadOf(static_cast<unsigned char>(bytes.front()));
  if (lead.length == 0) return {Utf8Step::Kind::Invalid, 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) return {Utf8Step::Kind::Incomplete, i};
    const unsigned byte = static_cast<unsigned char>(bytes[i]);
    const unsigned low = i == 1 ? lead.secondLow : 0x80U;
    const unsigned high = i == 1 ? lead.secondHigh : 0xBFU;
    if (byte < low || byte > high) return {Utf8Step::Kind::Invalid, i};
  }
  return {Utf8Step::Kind::Character, lead.length};
}

std::size_t findInvalidUtf8(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    // Most text is ASCII: eight such bytes are passed at once.
    if (bytes.size() - i >= sizeof(std::uint64_t)) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, bytes.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080U) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const Utf8Step step = nextUtf8(bytes.substr(i));
    if (step.kind != Utf8Step::Kind::Character) return i;
    i += step.length;
  }
  return std::string_view::npos;
}

bool isValidUtf8(std::string_view bytes) {
  return findInvalidUtf8(bytes) == std::string_view::npos;
}

std::string toValidUtf8(std::string_view bytes) {
  std::string valid;
  valid.reserve(bytes.size());
  while (true) {
    const std::size_t invalid = findInvalidUtf8(bytes);
    valid += bytes.substr(0, invalid);
    if (invalid == std::string_view::npos) return valid;
    bytes.remove_prefix(invalid);
    valid += kReplacementCharacter;
    bytes.remove_prefix(nextUtf8(bytes).length);
  }
}

std::size_t settledUtf8Length(std::string_view bytes) {
  // Only a lead byte among the last three bytes can begin a character that is not whole.
  const std::size_t from = bytes.size() - std::min<std::size_t>(bytes.size(), 3);
  for (std::size_t i = from; i < bytes.size(); ++i) {
    const Utf8Step step = nextUtf8(bytes.substr(i));
    if (step.kind == Utf8Step::Kind::Incomplete) return i;
  }
  return bytes.size();
}

std::size_t countCharacters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !isUtf8Continuation(c); }));
}

void appendUtf8(std::string& text, char32_t character) {
  const auto add = [&text](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto goOn = [&](unsigned bits) { add(0x80U | ((character >> bits) & 0x3FU)); };
  if (character < 0x80) {
    add(character);
  } else if (character < 0x800) {
    add(0xC0U | (character >> 6U));
    goOn(0);
  } else if (character < 0x10000) {
    add(0xE0U | (character >> 12U));
    goOn(6);
    goOn(0);
  } else {
    add(0xF0U | (character >> 18U));
    goOn(12);
    goOn(6);
    goOn(0);
  }
}

}  // namespace spanscope
