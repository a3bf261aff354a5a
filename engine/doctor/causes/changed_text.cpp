// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/causes/changed_text.h"

#include "engine/base/utf8.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <set>
#include <utility>

namespace spanscope::doctor {

std::optional<Range> covering(const std::vector<Range>& ranges, std::size_t at) {
  for (const Range& range : ranges)
    if (range.begin <= at && at <= range.end) return range;
  return {};
}

std::string masked(std::string_view text, const std::vector<Range>& ranges, std::string_view mask) {
  std::string result;
  std::size_t at = 0;
  for (const Range& range : ranges) {
    result += text.substr(at, range.begin - at);
    result += mask;
    at = range.end;
  }
  return result + std::string(text.substr(at));
}

std::size_t firstDifference(std::string_view one, std::string_view other) {
  const std::size_t size = std::min(one.size(), other.size());
  std::size_t at = 0;
  while (at < size && one[at] == other[at]) ++at;
  return at;
}

bool areVersions(std::string_view before, std::string_view now, std::size_t percent) {
  const std::size_t most = std::max(before.size(), now.size());
  if (most == 0) return true;
  const std::size_t begin = firstDifference(before, now);
  std::size_t end = 0;
  while (end < std::min(before.size(), now.size()) - begin &&
         before[before.size() - 1 - end] == now[now.size() - 1 - end])
    ++end;
  if (100 * (begin + end) >= percent * most) return true;
  const auto wordsOf = [](std::string_view text) {
    std::set<std::string_view> words;
    std::size_t at = 0;
    while (at < text.size()) {
      while (at < text.size() && !isWordCharacter(text[at])) ++at;
      const std::size_t first = at;
      while (at < text.size() && isWordCharacter(text[at])) ++at;
      if (at > first) words.insert(text.substr(first, at - first));
    }
    return words;
  };
  const auto one = wordsOf(before);
  const auto other = wordsOf(now);
  const auto common =
      static_cast<std::size_t>(std::ranges::count_if(one, [&](auto word) { return other.contains(word); }));
  return 100 * common >= percent * std::max(one.size(), other.size());
}

void setExcerpts(std::string_view before, std::string_view now, std::size_t at, std::optional<Range> one,
                 std::optional<Range> other, Finding& finding) {
  constexpr std::size_t kMost = 80;
  if (!one || !other) {
    std::size_t ending = 0;
    const std::size_t most =
        std::min(before.size(), now.size()) - std::min(at, std::min(before.size(), now.size()));
    while (ending < most && before[before.size() - 1 - ending] == now[now.size() - 1 - ending]) ++ending;
    std::size_t begin = std::min(at, std::min(before.size(), now.size()));
    while (begin > 0 && at - begin < 16 && !isBlank(before[begin - 1])) --begin;
    one = Range{begin, std::max(begin, before.size() - ending)};
    other = Range{begin, std::max(begin, now.size() - ending)};
    for (const auto& [range, text] : {std::pair{&*one, before}, std::pair{&*other, now}}) {
      std::size_t more = 0;
      while (range->end < text.size() && more < 16 && !isBlank(text[range->end])) ++range->end, ++more;
    }
  }
  const auto cut = [&](std::string_view text, Range range) {
    std::size_t begin = range.begin;
    while (begin > 0 && begin < text.size() && isUtf8Continuation(text[begin])) --begin;
    std::size_t end = std::min(range.end, begin + kMost);
    while (end < text.size() && isUtf8Continuation(text[end])) ++end;
    return toValidUtf8(redacted(text, begin, end)) + (range.end > end ? "…" : "");
  };
  finding.at = at;
  finding.before = cut(before, *one);
  finding.after = cut(now, *other);
}

}  // namespace spanscope::doctor
