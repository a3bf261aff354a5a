// SPDX-License-Identifier: GPL-3.0-or-later
// The cause "time", and the forms of times and dates.
#include "engine/doctor/causes/times.h"

#include "engine/base/translation.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/causes/ids.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::doctor {
namespace {

std::size_t digitsAt(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && isDigit(text[at + count])) ++count;
  return count;
}

constexpr std::array<std::string_view, 24> kMonths{
    "january", "february", "march",    "april", "june", "july", "august", "september",
    "october", "november", "december", "jan",   "feb",  "mar",  "apr",    "may",
    "jun",     "jul",      "aug",      "sept",  "sep",  "oct",  "nov",    "dec"};
constexpr std::array<std::string_view, 16> kDays{
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mon",
    "tues",   "tue",     "wed",       "thurs",    "thu",    "fri",      "sat",    "sun"};

/// Whether the name of a month or a day can begin with this letter. Most words of a text are neither.
bool beginsName(char c) {
  return std::string_view("jfmasondtw").find(smallLetter(c)) != std::string_view::npos;
}

template <class Words>
std::size_t wordOf(const Words& words, std::string_view text, std::size_t at) {
  for (const std::string_view word : words)
    if (hasWordAt(text, at, word) && (at + word.size() == text.size() || !isLetter(text[at + word.size()])))
      return word.size();
  return 0;
}

std::size_t skip(std::string_view text, std::size_t at, std::string_view characters) {
  while (at < text.size() && characters.find(text[at]) != std::string_view::npos) ++at;
  return at;
}

/// Returns the end of a clock time at this place, or the place itself.
std::size_t endOfClock(std::string_view text, std::size_t at) {
  const std::size_t hours = digitsAt(text, at);
  if (hours < 1 || hours > 2) return at;
  std::size_t end = at + hours;
  if (end < text.size() && text[end] == ':' && digitsAt(text, end + 1) == 2) {
    end += 3;
    if (end < text.size() && text[end] == ':' && digitsAt(text, end + 1) == 2) {
      end += 3;
      if (end < text.size() && (text[end] == '.' || text[end] == ',') && digitsAt(text, end + 1) > 0)
        end += 1 + digitsAt(text, end + 1);
    }
  } else {
    const std::size_t half = skip(text, end, " ");
    const bool isHalf = hasWordAt(text, half, "am") || hasWordAt(text, half, "pm");
    if (!isHalf || (half + 2 < text.size() && isWordCharacter(text[half + 2]))) return at;
  }
  const std::size_t half = skip(text, end, " ");
  for (const std::string_view word : {"am", "pm", "a.m.", "p.m."})
    if (hasWordAt(text, half, word)) end = half + word.size();
  const std::size_t zone = skip(text, end, " ");
  for (const std::string_view word : {"utc", "gmt", "cest", "cet", "est", "edt", "pst", "pdt"})
    if (hasWordAt(text, zone, word)) end = zone + word.size();
  if (end < text.size() && text[end] == 'Z') ++end;
  if (end < text.size() && (text[end] == '+' || text[end] == '-') && digitsAt(text, end + 1) >= 2) {
    end += 1 + digitsAt(text, end + 1);
    if (end < text.size() && text[end] == ':' && digitsAt(text, end + 1) == 2) end += 3;
  }
  return end;
}

std::size_t yearAt(std::string_view text, std::size_t at) {
  return digitsAt(text, at) == 4 && (text.substr(at, 2) == "19" || text.substr(at, 2) == "20") ? 4 : 0;
}

/// Returns the end of one date or time at this place, or the place itself.
std::size_t endOfTime(std::string_view text, std::size_t at) {
  if (const std::size_t end = endOfClock(text, at); end > at) return end;
  if (isDigit(text[at])) {
    const std::size_t first = digitsAt(text, at);
    const std::size_t next = at + first;
    // 2026-08-31, 31.08.2026, 8/31/26
    if (next < text.size() && (text[next] == '-' || text[next] == '/' || text[next] == '.')) {
      const std::size_t second = digitsAt(text, next + 1);
      const std::size_t later = next + 1 + second;
      if (second >= 1 && second <= 2 && later < text.size() && text[later] == text[next]) {
        const std::size_t third = digitsAt(text, later + 1);
        const bool hasYear = yearAt(text, at) == 4 ? third <= 2 : first <= 2 && yearAt(text, later + 1) == 4;
        if (third > 0 && (hasYear || (text[next] == '/' && first <= 2 && third == 2)))
          return later + 1 + third;
      }
    }
    // 1788184980 and 1788184980123
    if ((first == 10 || first == 13) && text[at] == '1') {
      std::size_t end = next;
      if (end < text.size() && text[end] == '.')
        end += digitsAt(text, end + 1) > 0 ? 1 + digitsAt(text, end + 1) : 0;
      return end;
    }
    // 20260831, 20260831T140300
    if (first == 8 && (text.substr(at, 2) == "20" || text.substr(at, 2) == "19") &&
        text.substr(at + 4, 2) <= "12" && text.substr(at + 6, 2) <= "31")
      return next < text.size() && text[next] == 'T' && digitsAt(text, next + 1) >= 4
                 ? next + 1 + digitsAt(text, next + 1)
                 : next;
    // 31 August 2026
    if (first <= 2) {
      std::size_t month = next;
      for (const std::string_view word : {"st", "nd", "rd", "th"})
        if (hasWordAt(text, month, word)) month += 2;
      month = skip(text, month, " .");
      if (hasWordAt(text, month, "of ")) month += 3;
      if (const std::size_t name = wordOf(kMonths, text, month); name > 0) {
        const std::size_t year = skip(text, month + name, " .,");
        return yearAt(text, year) == 4 ? year + 4 : month + name;
      }
    }
    // 5 minutes ago
    for (const std::string_view unit : {"second", "minute", "hour", "day", "week"}) {
      const std::size_t word = skip(text, next, " ");
      if (!hasWordAt(text, word, unit)) continue;
      std::size_t end = word + unit.size();
      if (end < text.size() && text[end] == 's') ++end;
      if (hasWordAt(text, end, " ago")) return end + 4;
    }
    if (yearAt(text, at) == 4) return next;
    return at;
  }
  if (!beginsName(text[at])) return at;
  if (const std::size_t name = wordOf(kMonths, text, at); name > 0) {
    std::size_t day = skip(text, at + name, " .");
    const std::size_t digits = digitsAt(text, day);
    if (digits == 4) return yearAt(text, day) == 4 ? day + 4 : at;
    if (digits < 1 || digits > 2) return at;
    day += digits;
    for (const std::string_view word : {"st", "nd", "rd", "th"})
      if (hasWordAt(text, day, word)) day += 2;
    const std::size_t year = skip(text, day, " ,");
    return yearAt(text, year) == 4 ? year + 4 : day;
  }
  if (const std::size_t name = wordOf(kDays, text, at); name > 0) return at + name;
  return at;
}

/// Returns the run of dates and times that begins here: "Monday, 31 August 2026 at 14:03".
std::optional<Range> timesAt(std::string_view text, std::size_t at) {
  if (at > 0 && isWordCharacter(text[at - 1])) return {};
  if (!isDigit(text[at]) && !isLetter(text[at])) return {};
  std::size_t end = endOfTime(text, at);
  while (end > at && end < text.size()) {
    std::size_t next = skip(text, end, " ,T");
    if (hasWordAt(text, next, "at ")) next += 3;
    if (next == end || next >= text.size()) break;
    const std::size_t more = endOfTime(text, next);
    if (more == next) break;
    end = more;
  }
  if (end == at || (end < text.size() && isWordCharacter(text[end]))) return {};
  return Range{at, end};
}

/// Whether `longer` is `shorter` with a short text at this place that contains a time: "Now: 14:03. ".
bool isTimeAdded(std::string_view shorter, std::string_view longer, std::size_t at) {
  constexpr std::size_t kMost = 120;
  if (shorter.empty() || longer.size() <= shorter.size() || longer.size() - shorter.size() > kMost)
    return false;
  const std::size_t size = longer.size() - shorter.size();
  if (longer.substr(at + size) != shorter.substr(at)) return false;
  const std::string_view added = longer.substr(at, size);
  // A year or a day of the week alone is ordinary text.
  return std::ranges::any_of(timesIn(added), [&](const Range& time) {
    const std::string_view text = added.substr(time.begin, time.end - time.begin);
    return text.size() > 4 && std::ranges::any_of(text, isDigit);
  });
}

/// Whether a range is a year or a name alone, which can be a part of any text.
bool isWeak(std::string_view time) {
  return time.size() <= 4 || std::ranges::none_of(time, isDigit);
}

bool isTime(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change != Difference::Change::Edited) return false;
  if (isTimeAdded(d.beforeText, d.nowText, at) || isTimeAdded(d.nowText, d.beforeText, at)) {
    setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
    return true;
  }
  const auto one = covering(timesIn(d.beforeText), at);
  const auto other = covering(timesIn(d.nowText), at);
  if (!one || !other || (one->end == at && other->end == at)) return false;
  const auto weak = [](std::string_view text, Range range) {
    return isWeak(text.substr(range.begin, range.end - range.begin));
  };
  if ((weak(d.beforeText, *one) || weak(d.nowText, *other)) &&
      !continueAlike(d.beforeText, one->end, d.nowText, other->end))
    return false;
  setExcerpts(d.beforeText, d.nowText, at, one, other, finding);
  return true;
}

/// Removes times from both texts.
bool removeTime(Difference& d, std::size_t at) {
  if (isTimeAdded(d.beforeText, d.nowText, at)) {
    d.nowText = d.beforeText;
    return true;
  }
  if (isTimeAdded(d.nowText, d.beforeText, at)) {
    d.beforeText = d.nowText;
    return true;
  }
  d.beforeText = masked(d.beforeText, timesIn(d.beforeText), "\x01");
  d.nowText = masked(d.nowText, timesIn(d.nowText), "\x01");
  return true;
}

}  // namespace

std::vector<Range> timesIn(std::string_view text) {
  std::vector<Range> found;
  for (std::size_t at = 0; at < text.size();) {
    if (const auto range = timesAt(text, at)) {
      found.push_back(*range);
      at = range->end;
    } else {
      ++at;
    }
  }
  return found;
}

bool continueAlike(std::string_view before, std::size_t one, std::string_view now, std::size_t other) {
  constexpr std::size_t kEqual = 24;  // bytes
  constexpr std::size_t kFar = 400;
  const auto rest = [](std::string_view text, std::size_t at) {
    const std::string some(text.substr(std::min(at, text.size()), kFar));
    const std::string timeless = masked(some, timesIn(some), "\x01");
    return masked(timeless, idsIn(timeless), "\x02");
  };
  const std::string left = rest(before, one);
  const std::string right = rest(now, other);
  return firstDifference(left, right) >= std::min({kEqual, left.size(), right.size()});
}

Cause timeCause() {
  return {.id = CauseId::Time,
          .key = "time",
          .name = forTranslation("Causes", "time or date"),
          .sentence = forTranslation("Causes", "The prompt contains the time or the date."),
          .example = "14:03 → 14:07",
          .cure = forTranslation("Causes", "Move the time to the end of the prompt."),
          .isEdit = true,
          .matches = isTime,
          .explains = nullptr,
          .remove = removeTime};
}

}  // namespace spanscope::doctor
