// SPDX-License-Identifier: GPL-3.0-or-later
// Finds and shows the changed place of two texts. Open this file to write a rule about texts.
#pragma once

#include "engine/base/ascii.h"
#include "engine/doctor/causes.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::doctor {

// These functions know ASCII only. They are called for each byte of large logs.

constexpr bool isWordCharacter(char c) {
  return isDigit(c) || isLetter(c) || c == '_';
}
constexpr bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

/// Whether a text has this word at a place. `word` has small letters only.
constexpr bool hasWordAt(std::string_view text, std::size_t at, std::string_view word) {
  if (text.size() < at + word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (smallLetter(text[at + i]) != word[i]) return false;
  return true;
}

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The range that contains or touches a place.
std::optional<Range> covering(const std::vector<Range>& ranges, std::size_t at);
/// The text with `mask` in place of each range.
std::string masked(std::string_view text, const std::vector<Range>& ranges, std::string_view mask);

std::size_t firstDifference(std::string_view one, std::string_view other);

/// Whether two texts are versions of one text: at least this percentage of them is equal.
bool areVersions(std::string_view before, std::string_view now, std::size_t percent);

/// Sets the changed text, without secrets. Without ranges, this is the text between the common ends, in whole
/// words.
void setExcerpts(std::string_view before, std::string_view now, std::size_t at, std::optional<Range> one,
                 std::optional<Range> other, Finding& finding);

}  // namespace spanscope::doctor
