// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/byte_alphabet.h"

#include "engine/base/utf8.h"
#include "engine/text/unicode.h"

#include <array>
#include <cstdint>

namespace spanscope::text {
namespace {

constexpr char32_t kFirstReplacement = 0x100;

constexpr bool isPrintable(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/// Character by byte.
constexpr std::array<char32_t, 256> letterTable() {
  std::array<char32_t, 256> letters{};
  char32_t next = kFirstReplacement;
  for (unsigned byte = 0; byte < letters.size(); ++byte) {
    letters[byte] = isPrintable(byte) ? static_cast<char32_t>(byte) : next++;
  }
  return letters;
}

constexpr std::array<char32_t, 256> kLetters = letterTable();

/// Byte by character, −1 for characters that are none of the alphabet; the last of it is U+0143.
constexpr std::array<std::int16_t, 0x144> byteTable() {
  std::array<std::int16_t, 0x144> bytes{};
  for (std::int16_t& byte : bytes) byte = -1;
  for (std::size_t byte = 0; byte < kLetters.size(); ++byte) {
    bytes[kLetters[byte]] = static_cast<std::int16_t>(byte);
  }
  return bytes;
}

constexpr std::array<std::int16_t, 0x144> kBytes = byteTable();

}  // namespace

std::string byteLetter(unsigned char byte) {
  std::string letter;
  appendUtf8(letter, kLetters[byte]);
  return letter;
}

std::optional<std::string> bytesOfLetters(std::string_view letters) {
  std::string bytes;
  bytes.reserve(letters.size());
  while (!letters.empty()) {
    const char32_t c = firstCharacter(letters);
    if (c >= kBytes.size() || kBytes[c] < 0) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(kBytes[c]));
    letters.remove_prefix(nextUtf8(letters).length);
  }
  return bytes;
}

}  // namespace spanscope::text
