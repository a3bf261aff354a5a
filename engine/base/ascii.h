// SPDX-License-Identifier: GPL-3.0-or-later
// Classes and case of ASCII characters, independent of the locale. Open this file before you write c >= 'a'.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace spanscope {

constexpr bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
constexpr char smallLetter(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr bool isLetter(char c) {
  return smallLetter(c) >= 'a' && smallLetter(c) <= 'z';
}
/// Returns the value of a hexadecimal digit, or -1.
constexpr int hexDigit(char c) {
  if (isDigit(c)) return c - '0';
  const char letter = smallLetter(c);
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/// Returns the text with the letters A to Z as a to z.
inline std::string inSmallLetters(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), smallLetter);
  return small;
}

}  // namespace spanscope
