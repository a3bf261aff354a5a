// SPDX-License-Identifier: GPL-3.0-or-later
// The cause "white_space".
#include "engine/base/translation.h"
#include "engine/base/utf8.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/causes/changed_text.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::doctor {
namespace {

std::string withoutBlanks(std::string_view text) {
  std::string result(text);
  std::erase_if(result, isBlank);
  return result;
}

/// Whether only white space differs at this place.
bool isBlankDifference(std::string_view before, std::string_view now, std::size_t at) {
  const bool isAtBlank = (at < before.size() && isBlank(before[at])) || (at < now.size() && isBlank(now[at]));
  if (!isAtBlank) return false;
  std::size_t one = at;
  std::size_t other = at;
  while (one < before.size() && isBlank(before[one])) ++one;
  while (other < now.size() && isBlank(now[other])) ++other;
  if (one == before.size() || other == now.size()) return one == before.size() && other == now.size();
  // The texts after the white space must be equal for a while.
  constexpr std::size_t kEqual = 12;
  std::size_t equal = 0;
  for (; equal < kEqual; ++one, ++other) {
    while (one < before.size() && isBlank(before[one])) ++one;
    while (other < now.size() && isBlank(now[other])) ++other;
    if (one == before.size() || other == now.size()) break;
    if (before[one] != now[other]) return false;
    ++equal;
  }
  return equal >= 4;
}

bool isWhiteSpace(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change != Difference::Change::Edited || d.beforeText == d.nowText) return false;
  const bool isEqual = withoutBlanks(d.beforeText) == withoutBlanks(d.nowText);
  if (!isEqual && !isBlankDifference(d.beforeText, d.nowText, at)) return false;
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

/// Replaces each run of white space in both texts by one space.
bool collapseBlanks(Difference& d, std::size_t) {
  for (std::string* text : {&d.beforeText, &d.nowText}) {
    std::string result;
    for (const char c : trimmed(*text)) {
      const char blank = isBlank(c) ? ' ' : c;
      if (blank != ' ' || (!result.empty() && result.back() != ' ')) result += blank;
    }
    *text = result;
  }
  return true;
}

}  // namespace

Cause whiteSpaceCause() {
  return {.id = CauseId::WhiteSpace,
          .key = "white_space",
          .name = forTranslation("Causes", "white space"),
          .sentence = forTranslation("Causes", "Only spaces or line breaks differ."),
          .example = "two spaces → one space",
          .cure = forTranslation("Causes", "Send the text with the same spaces and line breaks each time."),
          .isEdit = true,
          .matches = isWhiteSpace,
          .explains = nullptr,
          .remove = collapseBlanks};
}

}  // namespace spanscope::doctor
