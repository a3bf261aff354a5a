// SPDX-License-Identifier: GPL-3.0-or-later
// The cause "id", and the forms of ids.
#include "engine/doctor/causes/ids.h"

#include "engine/base/translation.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/causes/times.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace spanscope::doctor {
namespace {

bool isIdCharacter(char c) {
  return isDigit(c) || isLetter(c) || c == '_' || c == '-';
}

/// Whether a word is an id by its form alone.
bool isIdForm(std::string_view word) {
  std::size_t digits = 0;
  std::size_t upper = 0;
  std::size_t lower = 0;
  std::size_t changes = 0;  // between digits and letters
  for (std::size_t i = 0; i < word.size(); ++i) {
    digits += isDigit(word[i]) ? 1 : 0;
    upper += word[i] >= 'A' && word[i] <= 'Z' ? 1 : 0;
    lower += word[i] >= 'a' && word[i] <= 'z' ? 1 : 0;
    changes += i > 0 && isDigit(word[i]) != isDigit(word[i - 1]) ? 1 : 0;
  }
  const std::size_t letters = upper + lower;
  if (letters == 0) return digits >= 5 && digits + 3 >= word.size();
  if (digits >= 2 && word.size() >= 6 && (digits >= 3 || changes >= 2)) return true;
  if (digits >= 2 && word.size() == 5 && changes >= 3) return true;  // "a9f2b"
  return word.size() >= 16 && upper >= 3 && lower >= 3 && word.find('-') == std::string_view::npos &&
         changes >= 2;
}

/// Whether the words before a place announce an id: "Session id: ".
bool isAnnounced(std::string_view text, std::size_t at) {
  const std::size_t begin = at > 28 ? at - 28 : 0;
  std::string_view words = text.substr(begin, at - begin);
  if (const std::size_t line = words.rfind('\n'); line != std::string_view::npos)
    words.remove_prefix(line + 1);
  for (const std::string_view word : {"id",     "uuid",   "session", "request", "nonce", "seed",      "trace",
                                      "run",    "ticket", "attempt", "turn",    "step",  "iteration", "token",
                                      "random", "salt",   "counter", "key",     "hash",  "build",     "#"}) {
    for (std::size_t i = 0; i + word.size() <= words.size(); ++i) {
      const bool begins = word == "#" || i == 0 || !isLetter(words[i - 1]);
      const bool ends = word == "#" || i + word.size() == words.size() || !isLetter(words[i + word.size()]);
      // The value follows soon after its name.
      if (begins && ends && hasWordAt(words, i, word) && words.size() - i - word.size() <= 8 &&
          words.substr(i + word.size()).find_first_of(".!?") == std::string_view::npos)
        return true;
    }
  }
  return false;
}

Range wordAround(std::string_view text, std::size_t at) {
  Range word{at, at};
  while (word.begin > 0 && isIdCharacter(text[word.begin - 1])) --word.begin;
  while (word.end < text.size() && isIdCharacter(text[word.end])) ++word.end;
  return word;
}

/// Whether a word is random by its form. Short ids also name documents, orders or versions.
bool isLongId(std::string_view word) {
  constexpr std::size_t kLeast = 12;
  const auto digits = std::ranges::count_if(word, isDigit);
  return word.size() >= kLeast && digits >= 4 && std::ranges::any_of(word, isLetter);
}

bool isRandomText(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change != Difference::Change::Edited) return false;
  const Range one = wordAround(d.beforeText, std::min(at, d.beforeText.size()));
  const Range other = wordAround(d.nowText, std::min(at, d.nowText.size()));
  if (one.begin != other.begin || one.begin == one.end || other.begin == other.end) return false;
  const auto word = [](std::string_view text, Range range) {
    return text.substr(range.begin, range.end - range.begin);
  };
  const bool isId = (isIdForm(word(d.beforeText, one)) && isIdForm(word(d.nowText, other))) ||
                    isAnnounced(d.nowText, other.begin);
  if (!isId) return false;
  const bool isLong = isLongId(word(d.beforeText, one)) && isLongId(word(d.nowText, other));
  if (!isLong && !continueAlike(d.beforeText, one.end, d.nowText, other.end)) return false;
  setExcerpts(d.beforeText, d.nowText, at, one, other, finding);
  return true;
}

/// Removes ids from both texts.
bool removeIds(Difference& d, std::size_t at) {
  const Range one = wordAround(d.beforeText, std::min(at, d.beforeText.size()));
  const Range other = wordAround(d.nowText, std::min(at, d.nowText.size()));
  d.beforeText.replace(one.begin, one.end - one.begin, "\x02");
  d.nowText.replace(other.begin, other.end - other.begin, "\x02");
  d.beforeText = masked(d.beforeText, idsIn(d.beforeText), "\x02");
  d.nowText = masked(d.nowText, idsIn(d.nowText), "\x02");
  return true;
}

}  // namespace

std::vector<Range> idsIn(std::string_view text) {
  std::vector<Range> found;
  for (std::size_t at = 0; at < text.size();) {
    if (!isIdCharacter(text[at])) {
      ++at;
      continue;
    }
    const Range word = wordAround(text, at);
    const std::string_view letters = text.substr(word.begin, word.end - word.begin);
    if (isIdForm(letters) || isAnnounced(text, word.begin)) found.push_back(word);
    at = word.end;
  }
  return found;
}

Cause idCause() {
  return {.id = CauseId::RandomText,
          .key = "id",
          .name = forTranslation("Causes", "id or random text"),
          .sentence = forTranslation("Causes", "The prompt contains an id or random characters."),
          .example = "run 7f3a91c2 → run 05be77d1",
          .cure = forTranslation("Causes", "Move the id to the end of the prompt, or remove the id."),
          .isEdit = true,
          .matches = isRandomText,
          .explains = nullptr,
          .remove = removeIds};
}

}  // namespace spanscope::doctor
