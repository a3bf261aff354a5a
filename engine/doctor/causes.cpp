// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of the causes. A rule sees one place at which two requests differ.
#include "engine/doctor/causes.h"

#include "engine/base/translation.h"
#include "engine/base/utf8.h"
#include "engine/doctor/prompt_tokens.h"
#include "engine/doctor/redaction.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace spanscope::doctor {
namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isLetter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool isWordCharacter(char c) {
  return isDigit(c) || isLetter(c) || c == '_';
}
bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

std::size_t firstDifference(std::string_view one, std::string_view other) {
  const std::size_t size = std::min(one.size(), other.size());
  std::size_t at = 0;
  while (at < size && one[at] == other[at]) ++at;
  return at;
}

std::size_t digitsAt(std::string_view text, std::size_t at) {
  std::size_t count = 0;
  while (at + count < text.size() && isDigit(text[at + count])) ++count;
  return count;
}

bool hasWordAt(std::string_view text, std::size_t at, std::string_view word) {
  if (text.size() < at + word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(text[at + i])) != word[i]) return false;
  return true;
}

// --- Times and dates

constexpr std::array<std::string_view, 24> kMonths{
    "january", "february", "march",    "april", "june", "july", "august", "september",
    "october", "november", "december", "jan",   "feb",  "mar",  "apr",    "may",
    "jun",     "jul",      "aug",      "sept",  "sep",  "oct",  "nov",    "dec"};
constexpr std::array<std::string_view, 16> kDays{
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "mon",
    "tues",   "tue",     "wed",       "thurs",    "thu",    "fri",      "sat",    "sun"};

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

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

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

template <class Ranges>
std::optional<Range> covering(const Ranges& ranges, std::size_t at) {
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

// --- Ids and random texts

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

// --- JSON

/// Returns the outermost JSON value that contains a place.
std::optional<Range> jsonAround(std::string_view text, std::size_t at) {
  constexpr int kMostTries = 64;
  int tries = 0;
  for (std::size_t begin = 0; begin <= at && begin < text.size() && tries < kMostTries; ++begin) {
    if (text[begin] != '{' && text[begin] != '[') continue;
    std::size_t depth = 0;
    bool inText = false;
    std::size_t end = begin;
    for (; end < text.size(); ++end) {
      const char c = text[end];
      if (inText) {
        if (c == '\\') ++end;
        if (c == '"') inText = false;
      } else if (c == '"') {
        inText = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        break;
      }
    }
    ++tries;
    if (end >= text.size()) continue;
    if (end >= at) {
      if (nlohmann::json::accept(text.substr(begin, end + 1 - begin))) return Range{begin, end + 1};
    } else {
      begin = end;
    }
  }
  return {};
}

struct JsonPair {
  Range before;
  Range now;
  nlohmann::json beforeSorted;
  nlohmann::json nowSorted;
};

std::optional<JsonPair> jsonPairAt(std::string_view before, std::string_view now, std::size_t at) {
  const auto one = jsonAround(before, std::min(at, before.size()));
  const auto other = jsonAround(now, std::min(at, now.size()));
  if (!one || !other || one->begin != other->begin) return {};
  return JsonPair{*one, *other,
                  nlohmann::json::parse(before.substr(one->begin, one->end - one->begin), nullptr, false),
                  nlohmann::json::parse(now.substr(other->begin, other->end - other->begin), nullptr, false)};
}

/// The JSON with texts in place of dates and ids, to compare the names of members alone.
void maskValues(nlohmann::json& value) {
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    const std::string first = masked(text, timesIn(text), "\x01");
    value = masked(first, idsIn(first), "\x02");
  } else if (value.is_number()) {
    value = 0;
  } else if (value.is_structured()) {
    for (auto& inner : value) maskValues(inner);
  }
}

// --- White space

std::string withoutBlanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (!isBlank(c)) result += c;
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

// --- Documents

constexpr std::size_t kLeastDocument = 40;  // bytes

/// A document without its number, which changes with its place.
std::string withoutNumber(std::string_view chunk) {
  constexpr std::size_t kHead = 32;
  std::string text;
  bool isHead = true;
  std::size_t removed = 0;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (isHead && i < kHead && isDigit(chunk[i])) {
      ++removed;
      continue;
    }
    if (removed > 0) isHead = false;
    text += chunk[i];
  }
  return removed > 0 && removed <= 3 ? text : std::string(chunk);
}

/// Splits a text at a border. If chunks keep their border, the border begins an element, and the element ends
/// with its closing tag.
std::vector<std::string_view> chunksOf(std::string_view text, std::string_view border, bool keepsBorder) {
  std::vector<std::string_view> chunks;
  const auto add = [&chunks](std::string_view chunk) {
    if (chunk = trimmed(chunk); !chunk.empty()) chunks.push_back(chunk);
  };
  std::size_t at = 0;
  while (at <= text.size()) {
    const bool isElement = keepsBorder && text.substr(at).starts_with(border);
    const std::size_t next = std::min(text.find(border, at + (isElement ? 1 : 0)), text.size());
    std::string_view chunk = text.substr(at, next - at);
    if (isElement) {
      const std::size_t closing = chunk.find("</" + std::string(border.substr(1)));
      const std::size_t end = closing == std::string_view::npos ? closing : chunk.find('>', closing);
      if (end != std::string_view::npos) {
        add(chunk.substr(0, end + 1));
        chunk.remove_prefix(end + 1);
      }
    }
    add(chunk);
    if (next == text.size()) break;
    at = keepsBorder ? next : next + border.size();
  }
  return chunks;
}

struct SharedDocuments {
  std::string_view border;
  bool keepsBorder = false;
  std::size_t shared = 0;   ///< long documents of both
  std::size_t onlyNow = 0;  ///< long documents of one, without the last text (the question)
  std::size_t onlyBefore = 0;
  bool isReordered = false;  ///< the shared documents have another order
  bool hasMoved = false;     ///< a shared document has another number
};

std::optional<SharedDocuments> sharedDocuments(std::string_view before, std::string_view now) {
  using Form = std::pair<std::string_view, bool>;
  for (const auto& [border, keeps] :
       {Form{"<document", true}, Form{"<doc", true}, Form{"\n\n", false}, Form{"\n", false}}) {
    const auto one = chunksOf(before, border, keeps);
    const auto other = chunksOf(now, border, keeps);
    if (one.size() < 2 && other.size() < 2) continue;
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < one.size(); ++i)
      if (one[i].size() >= kLeastDocument) places.emplace(withoutNumber(one[i]), i);
    SharedDocuments found{.border = border, .keepsBorder = keeps};
    std::size_t last = 0;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (other[i].size() < kLeastDocument) continue;
      const std::string key = withoutNumber(other[i]);
      const auto place = places.find(key);
      if (place == places.end()) {
        found.onlyNow += i + 1 < other.size() ? 1 : 0;
        continue;
      }
      if (!seen.insert(key).second) continue;
      found.hasMoved = found.hasMoved || place->second != i;
      if (found.shared > 0 && place->second < last) found.isReordered = true;
      last = place->second;
      ++found.shared;
    }
    for (const auto& [key, place] : places)
      found.onlyBefore += !seen.contains(key) && place + 1 < one.size() ? 1 : 0;
    if (found.shared > 0) return found;
  }
  return {};
}

// --- Excerpts

/// The changed text between the common ends, in whole words, without secrets.
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

// --- Rules about texts

bool isModelChanged(const Difference& d, std::size_t, Finding& finding) {
  const std::string& before = d.before->servedModel();
  const std::string& now = d.now->servedModel();
  if (before == now) return false;
  // The names in the requests are the names that the user knows.
  const bool differsInRequest = d.before->model != d.now->model;
  finding.before = redacted(differsInRequest ? d.before->model : before);
  finding.after = redacted(differsInRequest ? d.now->model : now);
  return true;
}

bool isOtherInput(const Difference& d, std::size_t, Finding& finding) {
  if (d.before->salt != d.now->salt) {
    finding.detail = "salt";
    return true;
  }
  if (d.before->adapter != d.now->adapter) {
    finding.detail = "adapter";
    finding.before = redacted(d.before->adapter);
    finding.after = redacted(d.now->adapter);
    return true;
  }
  if (d.change != Difference::Change::Edited || d.nowSection < 0 || d.beforeSection < 0) return false;
  const auto partsOf = [](const LoggedRequest& request, std::int32_t section) -> const std::vector<Part>* {
    const auto index = static_cast<std::size_t>(section);
    return index < request.messages.size() ? &request.messages[index].parts : nullptr;
  };
  const auto* one = partsOf(*d.before, d.beforeSection);
  const auto* other = partsOf(*d.now, d.nowSection);
  if (one == nullptr || other == nullptr) return false;
  for (std::size_t i = 0; i < std::max(one->size(), other->size()); ++i) {
    const bool isFirst = i >= one->size() || i >= other->size() || (*one)[i] != (*other)[i];
    if (!isFirst) continue;
    const bool isImage = (i < one->size() && (*one)[i].kind == Part::Kind::Image) ||
                         (i < other->size() && (*other)[i].kind == Part::Kind::Image);
    if (isImage) finding.detail = "image";
    return isImage;
  }
  return false;
}

std::string namesOf(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return redacted(text);
}

bool isTools(const Difference& d, std::size_t, Finding& finding) {
  if (d.nowSection != kToolsSection) return false;
  std::map<std::string, std::string> before;
  std::vector<std::string> added;
  std::vector<std::string> changed;
  for (const Tool& tool : d.before->tools) before.emplace(tool.name, tool.text);
  std::set<std::string> kept;
  for (const Tool& tool : d.now->tools) {
    const auto found = before.find(tool.name);
    if (found == before.end()) {
      added.push_back(tool.name);
    } else {
      kept.insert(tool.name);
      if (found->second != tool.text) changed.push_back(tool.name);
    }
  }
  std::vector<std::string> removed;
  for (const auto& [name, text] : before)
    if (!kept.contains(name)) removed.push_back(name);
  const bool isSameList = d.before->tools.size() == d.now->tools.size() &&
                          std::ranges::equal(d.before->tools, d.now->tools, {}, &Tool::name, &Tool::name);
  // Equal names in equal order: the rules about texts know more.
  if (isSameList && !changed.empty()) return false;
  const auto add = [&](const char* what, const std::vector<std::string>& names) {
    if (!names.empty())
      finding.detail += (finding.detail.empty() ? "" : "; ") + std::string(what) + namesOf(names);
  };
  add("added: ", added);
  add("removed: ", removed);
  add("changed: ", changed);
  if (finding.detail.empty()) finding.detail = "other order";
  return true;
}

bool isToolsEdited(const Difference& d, std::size_t) {
  return d.nowSection == kToolsSection;
}

bool isHistoryCut(const Difference& d, std::size_t, Finding& finding) {
  if (!d.isSameConversation || !d.isFirstOfHistory || d.change != Difference::Change::Removed) return false;
  const auto removed = static_cast<std::size_t>(d.beforeSection);
  if (removed < d.before->messages.size() && d.before->messages[removed].role == "system") return false;
  finding.detail = "the oldest messages removed";
  if (d.nowSection >= 0 && !d.nowText.empty()) finding.detail = "replaced by a summary";
  return true;
}

bool isTemplate(const Difference& d, std::size_t, Finding& finding) {
  if (d.change == Difference::Change::Rendered) {
    finding.detail = "the template writes an earlier message in another form";
    return true;
  }
  if (d.change != Difference::Change::Edited || d.nowSection < 0) return false;
  const auto index = static_cast<std::size_t>(d.beforeSection);
  const Message* before = index < d.before->messages.size() ? &d.before->messages[index]
                          : d.before->answer                ? &*d.before->answer
                                                            : nullptr;
  const Message& now = d.now->messages[static_cast<std::size_t>(d.nowSection)];
  if (before == nullptr) return false;
  if (before->role != now.role && before->parts == now.parts) {
    finding.detail = "role changed";
    finding.before = redacted(before->role);
    finding.after = redacted(now.role);
    return true;
  }
  const auto withoutReasoning = [](const Message& message) {
    std::vector<Part> parts;
    for (const Part& part : message.parts)
      if (part.kind != Part::Kind::Reasoning) parts.push_back(part);
    return parts;
  };
  const auto one = withoutReasoning(*before);
  const auto other = withoutReasoning(now);
  if (one.size() == before->parts.size() && other.size() == now.parts.size()) return false;
  if (one != other) return false;
  finding.detail = one.size() < before->parts.size() && other.size() == now.parts.size() ? "reasoning dropped"
                   : one.size() == before->parts.size()                                  ? "reasoning added"
                                                        : "reasoning changed";
  return true;
}

bool isWhiteSpace(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change != Difference::Change::Edited || d.beforeText == d.nowText) return false;
  const bool isEqual = withoutBlanks(d.beforeText) == withoutBlanks(d.nowText);
  if (!isEqual && !isBlankDifference(d.beforeText, d.nowText, at)) return false;
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

bool isKeyOrder(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change != Difference::Change::Edited) return false;
  const auto pair = jsonPairAt(d.beforeText, d.nowText, at);
  if (!pair || pair->beforeSorted.is_discarded() || pair->nowSorted.is_discarded()) return false;
  const std::string_view before =
      std::string_view(d.beforeText).substr(pair->before.begin, pair->before.end - pair->before.begin);
  const std::string_view now =
      std::string_view(d.nowText).substr(pair->now.begin, pair->now.end - pair->now.begin);
  if (nlohmann::ordered_json::parse(before, nullptr, false).dump() ==
      nlohmann::ordered_json::parse(now, nullptr, false).dump())
    return false;
  nlohmann::json one = pair->beforeSorted;
  nlohmann::json other = pair->nowSorted;
  if (one != other) {
    // The first difference must be a name at another place, not a changed value.
    maskValues(one);
    maskValues(other);
    if (one != other) return false;
    const auto same = [](std::string_view text) {
      std::string mask = masked(text, timesIn(text), "\x01");
      return masked(mask, idsIn(mask), "\x02");
    };
    if (same(before) == same(now)) return false;
  }
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
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

bool isTime(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change != Difference::Change::Edited) return false;
  if (isTimeAdded(d.beforeText, d.nowText, at) || isTimeAdded(d.nowText, d.beforeText, at)) {
    setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
    return true;
  }
  const auto one = covering(timesIn(d.beforeText), at);
  const auto other = covering(timesIn(d.nowText), at);
  if (!one || !other || (one->end == at && other->end == at)) return false;
  setExcerpts(d.beforeText, d.nowText, at, one, other, finding);
  return true;
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
  setExcerpts(d.beforeText, d.nowText, at, one, other, finding);
  return true;
}

bool isDocumentOrder(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change == Difference::Change::Permuted) {
    finding.detail = "messages in another order";
    return true;
  }
  if (d.change != Difference::Change::Edited) return false;
  const auto shared = sharedDocuments(d.beforeText, d.nowText);
  if (!shared || shared->shared < 2 || !shared->isReordered || shared->onlyNow > 0 || shared->onlyBefore > 0)
    return false;
  finding.detail = std::to_string(shared->shared) + " documents";
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

bool isDocumentElsewhere(const Difference& d, std::size_t at, Finding& finding) {
  constexpr std::size_t kLeastTokens = 64;
  if (d.change == Difference::Change::Removed || d.nowSection == kToolsSection) return false;
  const auto shared =
      d.change == Difference::Change::Edited ? sharedDocuments(d.beforeText, d.nowText) : std::nullopt;
  const bool isShared = shared && (shared->hasMoved || shared->isReordered) && d.repeatedTokens > 0 &&
                        shared->onlyNow + shared->onlyBefore > 0;
  // An edited message repeats most of itself, which is another cause.
  const bool isNewText = !d.isSameConversation || d.isAtEnd || d.change == Difference::Change::Inserted;
  if (!isShared && !(isNewText && d.repeatedTokens >= kLeastTokens)) return false;
  finding.detail = std::to_string(d.repeatedTokens) + " tokens that earlier requests also have";
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

/// Whether two texts are versions of one text: at least this percentage of them is equal.
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

bool isSystemEdited(const Difference& d, std::size_t at, Finding& finding) {
  const auto isSystem = [](const LoggedRequest& request, std::int32_t section) {
    const auto index = static_cast<std::size_t>(section);
    return section >= 0 && index < request.messages.size() && request.messages[index].role == "system";
  };
  const bool hasNow = isSystem(*d.now, d.nowSection);
  const bool hadBefore = isSystem(*d.before, d.beforeSection);
  if (!hasNow && !hadBefore) return false;
  if (d.change == Difference::Change::Inserted || d.change == Difference::Change::Removed) {
    if (!d.isSameConversation) return false;
    finding.detail = d.change == Difference::Change::Inserted ? "added" : "removed";
    return true;
  }
  // Other conversations can have system messages that were written from one model text.
  if (!d.isSameConversation && !areVersions(d.beforeText, d.nowText, 85)) return false;
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

bool isMessageEdited(const Difference& d, std::size_t at, Finding& finding) {
  if (!d.isSameConversation || d.nowSection == kToolsSection) return false;
  if (d.change == Difference::Change::Removed || d.change == Difference::Change::Inserted) {
    finding.detail = d.change == Difference::Change::Removed ? "removed" : "inserted";
    return true;
  }
  // Another question in place of the last one is new text, also if the questions differ by a number.
  const bool wasAtEnd = static_cast<std::size_t>(d.beforeSection) + 1 == d.before->messages.size();
  if (d.isAtEnd && (wasAtEnd || !areVersions(d.beforeText, d.nowText, 50))) return false;
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

// --- Rules about lookups

bool isExpired(const LookupFacts& f, Finding& finding) {
  if (f.alive + f.block > f.common || f.cached >= f.withoutLimits) return false;
  finding.detail = std::to_string(f.withoutLimits - f.cached) + " tokens";
  return true;
}
/// Servers count blocks of up to 128 tokens. A smaller difference of a reported count is no loss.
constexpr std::size_t kLeastReportedLoss = 256;

bool isReportedLess(const LookupFacts& f, std::size_t allowed) {
  return f.reported &&
         static_cast<std::size_t>(std::max<std::int64_t>(0, *f.reported)) + kLeastReportedLoss <= allowed;
}

/// The log or the user must name slots or replicas. Otherwise, the cause would be a guess.
bool isOtherSlot(const LookupFacts& f, Finding& finding) {
  const bool isOther = !f.replica.empty() && !f.bestReplica.empty() && f.replica != f.bestReplica;
  if (isOther && (f.cached < f.withoutLimits || isReportedLess(f, f.cached))) {
    finding.before = redacted(f.bestReplica);
    finding.after = redacted(f.replica);
    return true;
  }
  if (!f.areSlotsKnown || !f.isInOtherSlot || f.cached >= f.withoutLimits) return false;
  finding.detail = f.slot;
  return true;
}
bool isEvicted(const LookupFacts& f, Finding& finding) {
  if (!f.isLimited || f.cached + f.block > f.withoutLimits) return false;
  if (f.isInOtherSlot && !f.areSlotsKnown) return false;
  finding.detail = std::to_string(f.withoutLimits - f.cached) + " tokens";
  return true;
}
bool isUnreported(const LookupFacts& f, Finding& finding) {
  if (f.isInOtherSlot && !f.areSlotsKnown && f.cached + f.block <= f.withoutLimits) {
    finding.detail = "the log does not name the slots of the server";
    return true;
  }
  if (!isReportedLess(f, f.cached)) return false;
  finding.detail = "the server reported " + std::to_string(*f.reported) +
                   " cached tokens, the caching rules allow " + std::to_string(f.cached);
  return true;
}
bool isShorterThanBlock(const LookupFacts& f, Finding& finding) {
  if (f.common == 0 || f.common >= f.block || !(f.sharesSection || f.isWholeKnown)) return false;
  finding.detail = std::to_string(f.common) + " common tokens, blocks of " + std::to_string(f.block);
  return true;
}
bool isAfterLastBlock(const LookupFacts& f, Finding& finding) {
  if (!f.isWholeKnown || f.cached + 1 >= f.prompt) return false;
  finding.detail = std::to_string(f.prompt - f.cached) + " tokens";
  return true;
}
bool isNeverSeen(const LookupFacts& f, Finding&) {
  return !f.isWholeKnown && !f.isExtension;
}

constexpr std::array<Cause, 20> kCauses{{
    {CauseId::ModelChanged, "model", forTranslation("Causes", "The request uses a different model."),
     "small-model → large-model",
     forTranslation("Causes", "Use the same model for all requests of a conversation."), true, isModelChanged,
     nullptr},
    {CauseId::OtherInput, "other_input",
     forTranslation("Causes", "The request has a different image, cache salt or adapter."), "salt a → salt b",
     forTranslation("Causes", "Keep the salt and the adapter. Put new images at the end of the prompt."),
     true, isOtherInput, nullptr},
    {CauseId::Tools, "tools", forTranslation("Causes", "The tool definitions changed or have another order."),
     "added: search", forTranslation("Causes", "Send all tools in the same order in every request."), true,
     isTools, nullptr},
    {CauseId::HistoryCut, "history_cut",
     forTranslation("Causes", "The oldest messages of the conversation were removed."),
     "messages 2 to 5 removed",
     forTranslation("Causes", "Keep all messages, or rarely remove many messages at once."), true,
     isHistoryCut, nullptr},
    {CauseId::Template, "template",
     forTranslation("Causes", "The chat template renders an earlier message in another form."),
     "reasoning dropped",
     forTranslation("Causes", "Send earlier messages unchanged, with the same roles and reasoning."), true,
     isTemplate, nullptr},
    {CauseId::WhiteSpace, "white_space", forTranslation("Causes", "Only spaces or line breaks differ."),
     "two spaces → one space",
     forTranslation("Causes", "Send the text with the same spaces and line breaks each time."), true,
     isWhiteSpace, nullptr},
    {CauseId::KeyOrder, "key_order",
     forTranslation("Causes", "The members of a JSON object have another order."),
     R"({"a":1,"b":2} → {"b":2,"a":1})",
     forTranslation("Causes", "Sort the members of JSON objects before you send the request."), true,
     isKeyOrder, nullptr},
    {CauseId::Time, "time", forTranslation("Causes", "The prompt contains the time or the date."),
     "14:03 → 14:07", forTranslation("Causes", "Move the time to the end of the prompt."), true, isTime,
     nullptr},
    {CauseId::RandomText, "id", forTranslation("Causes", "The prompt contains an id or random characters."),
     "run 7f3a91c2 → run 05be77d1",
     forTranslation("Causes", "Move the id to the end of the prompt, or remove the id."), true, isRandomText,
     nullptr},
    {CauseId::DocumentOrder, "document_order",
     forTranslation("Causes", "The same documents have another order."), "A, B, C → B, A, C",
     forTranslation("Causes", "Keep the order of the documents, or make each document a span."), true,
     isDocumentOrder, nullptr},
    {CauseId::DocumentElsewhere, "document_elsewhere",
     forTranslation("Causes", "The prompt has a document of an earlier prompt at another place."),
     "A, B → C, A",
     forTranslation("Causes", "Put the documents under a plus, so that each document is a span."), false,
     isDocumentElsewhere, nullptr},
    {CauseId::SystemEdited, "system_edited", forTranslation("Causes", "The system message was edited."),
     "You are helpful. → You are brief.",
     forTranslation("Causes", "Keep the system message unchanged. Put new text at the end of the prompt."),
     true, isSystemEdited, nullptr},
    {CauseId::MessageEdited, "message_edited", forTranslation("Causes", "An earlier message was edited."),
     "a tool result was shortened",
     forTranslation("Causes", "Keep earlier messages unchanged. Put new text at the end of the prompt."),
     true, isMessageEdited, nullptr},
    {CauseId::Expired, "expired",
     forTranslation("Causes", "The cached tokens had expired: their time to live (TTL) had passed."),
     "400 s after the last use",
     forTranslation("Causes", "Send the next request sooner, or increase the TTL."), false, nullptr,
     isExpired},
    {CauseId::OtherSlot, "other_slot",
     forTranslation("Causes", "The tokens were cached in another slot or replica."),
     "slot 1 instead of slot 0",
     forTranslation("Causes", "Send all requests of a conversation to the same slot or replica."), false,
     nullptr, isOtherSlot},
    {CauseId::Evicted, "evicted", forTranslation("Causes", "The pool was full, and the tokens were evicted."),
     "the pool has 512 blocks", forTranslation("Causes", "Make the block pool of the server larger."), false,
     nullptr, isEvicted},
    {CauseId::Unknown, "unknown", forTranslation("Causes", "The log does not show the cause."),
     "the server reported fewer cached tokens", "", false, nullptr, isUnreported},
    {CauseId::ShorterThanBlock, "shorter_than_block",
     forTranslation("Causes", "The common prefix is shorter than a block."), "12 common tokens, blocks of 16",
     forTranslation("Causes", "Use smaller blocks, or a longer common prefix."), false, nullptr,
     isShorterThanBlock},
    {CauseId::AfterLastBlock, "after_last_block",
     forTranslation("Causes",
                    "The server caches only full blocks, so the last tokens of the prompt are computed."),
     "40 tokens, blocks of 16", "", false, nullptr, isAfterLastBlock},
    {CauseId::NeverSeen, "never_seen", forTranslation("Causes", "No earlier prompt contains this text."),
     "the first request", "", false, nullptr, isNeverSeen},
}};

/// Removes one kind of difference from both texts, so that the next one shows.
bool normalize(CauseId cause, Difference& difference, std::size_t at) {
  const auto collapse = [](std::string& text) {
    std::string result;
    for (const char c : trimmed(text)) {
      const char blank = isBlank(c) ? ' ' : c;
      if (blank != ' ' || (!result.empty() && result.back() != ' ')) result += blank;
    }
    text = result;
  };
  switch (cause) {
    case CauseId::WhiteSpace:
      collapse(difference.beforeText);
      collapse(difference.nowText);
      return true;
    case CauseId::KeyOrder: {
      const auto pair = jsonPairAt(difference.beforeText, difference.nowText, at);
      if (!pair) return false;
      difference.beforeText.replace(pair->before.begin, pair->before.end - pair->before.begin,
                                    pair->beforeSorted.dump());
      difference.nowText.replace(pair->now.begin, pair->now.end - pair->now.begin, pair->nowSorted.dump());
      return true;
    }
    case CauseId::Time:
      if (isTimeAdded(difference.beforeText, difference.nowText, at)) {
        difference.nowText = difference.beforeText;
        return true;
      }
      if (isTimeAdded(difference.nowText, difference.beforeText, at)) {
        difference.beforeText = difference.nowText;
        return true;
      }
      difference.beforeText = masked(difference.beforeText, timesIn(difference.beforeText), "\x01");
      difference.nowText = masked(difference.nowText, timesIn(difference.nowText), "\x01");
      return true;
    case CauseId::RandomText: {
      const Range one = wordAround(difference.beforeText, std::min(at, difference.beforeText.size()));
      const Range other = wordAround(difference.nowText, std::min(at, difference.nowText.size()));
      difference.beforeText.replace(one.begin, one.end - one.begin, "\x02");
      difference.nowText.replace(other.begin, other.end - other.begin, "\x02");
      difference.beforeText = masked(difference.beforeText, idsIn(difference.beforeText), "\x02");
      difference.nowText = masked(difference.nowText, idsIn(difference.nowText), "\x02");
      return true;
    }
    default:
      return false;
  }
}

/// The messages of a request, with its answer at the end.
struct History {
  explicit History(const LoggedRequest& request, bool hasAnswer)
      : m_request(&request), m_hasAnswer(hasAnswer) {}
  std::size_t size() const { return m_request->messages.size() + (m_hasAnswer ? 1 : 0); }
  const Message& at(std::size_t index) const {
    return index < m_request->messages.size() ? m_request->messages[index] : *m_request->answer;
  }

 private:
  const LoggedRequest* m_request;
  bool m_hasAnswer;
};

/// A run of messages that are paired or differ.
struct Step {
  std::size_t before = 0;
  std::size_t beforeCount = 0;
  std::size_t now = 0;
  std::size_t nowCount = 0;
  bool isEqual = false;
  bool isPermuted = false;
};

bool isPermutation(const History& before, std::size_t j, const History& now, std::size_t i,
                   std::size_t& count) {
  constexpr std::size_t kMost = 64;
  std::map<std::string, int> open;
  int unpaired = 0;
  const auto change = [&](const std::string& text, int by) {
    int& number = open[text];
    unpaired -= std::abs(number);
    number += by;
    unpaired += std::abs(number);
  };
  for (count = 1; count <= kMost && i + count <= now.size() && j + count <= before.size(); ++count) {
    const Message& one = before.at(j + count - 1);
    const Message& other = now.at(i + count - 1);
    change(one.role + "\n" + messageText(one), 1);
    change(other.role + "\n" + messageText(other), -1);
    if (count > 1 && unpaired == 0) return true;
  }
  return false;
}

std::vector<Step> alignMessages(const LoggedRequest& earlier, const LoggedRequest& later) {
  constexpr std::size_t kFar = 200;
  const History before(earlier, earlier.answer.has_value());
  const History now(later, false);
  std::vector<Step> steps;
  std::size_t j = 0;
  std::size_t i = 0;
  while (i < now.size() && j < before.size()) {
    if (now.at(i) == before.at(j)) {
      steps.push_back({j++, 1, i++, 1, true, false});
      continue;
    }
    std::size_t count = 0;
    if (isPermutation(before, j, now, i, count)) {
      steps.push_back({j, count, i, count, false, true});
      j += count;
      i += count;
      continue;
    }
    // The nearest pair of equal messages ends the difference.
    bool isFound = false;
    for (std::size_t sum = 1; sum <= kFar && !isFound && sum <= now.size() - i + (before.size() - j); ++sum) {
      for (std::size_t step = 0; step <= 2 * sum + 1; ++step) {
        // Edits come before removals: (1, 1) before (0, 2) and (2, 0).
        const std::size_t gone =
            sum / 2 + (step % 2 == 0 ? step / 2 : static_cast<std::size_t>(0) - (step + 1) / 2);
        if (gone > sum) continue;
        const std::size_t added = sum - gone;
        if (i + added >= now.size() || j + gone >= before.size() || now.at(i + added) != before.at(j + gone))
          continue;
        steps.push_back({j, gone, i, added, false, false});
        i += added;
        j += gone;
        isFound = true;
        break;
      }
    }
    if (!isFound) {
      steps.push_back({j, 1, i, 1, false, false});
      ++i;
      ++j;
    }
  }
  return steps;
}

}  // namespace

std::span<const Cause> causes() {
  return kCauses;
}

const Cause& causeOf(CauseId id) {
  return *std::ranges::find(kCauses, id, &Cause::id);
}

std::vector<std::optional<std::size_t>> pairsOf(const LoggedRequest& before, const LoggedRequest& now) {
  std::vector<std::optional<std::size_t>> pairs(now.messages.size());
  for (const Step& step : alignMessages(before, now))
    for (std::size_t i = 0; i < std::min(step.beforeCount, step.nowCount); ++i)
      pairs[step.now + i] = step.before + i;
  return pairs;
}

std::vector<Difference> differencesOf(const LoggedRequest& before, const LoggedRequest& now,
                                      bool isSameConversation) {
  std::vector<Difference> found;
  const auto add = [&](Difference::Change change, std::int32_t beforeSection,
                       std::int32_t nowSection) -> Difference& {
    Difference difference{.change = change,
                          .before = &before,
                          .now = &now,
                          .beforeSection = beforeSection,
                          .nowSection = nowSection,
                          .beforeText = {},
                          .nowText = {},
                          .isSameConversation = isSameConversation};
    found.push_back(std::move(difference));
    return found.back();
  };
  const History history(before, before.answer.has_value());
  const auto textAt = [&](std::size_t index) { return messageText(history.at(index)); };
  if (before.servedModel() != now.servedModel() || before.salt != now.salt || before.adapter != now.adapter)
    add(Difference::Change::Edited, now.tools.empty() ? 0 : kToolsSection,
        now.tools.empty() ? 0 : kToolsSection);
  if (before.tools != now.tools) {
    Difference& difference = add(Difference::Change::Edited, kToolsSection, kToolsSection);
    difference.beforeText = sectionText(before, kToolsSection);
    difference.nowText = sectionText(now, kToolsSection);
  }
  const std::size_t first = !now.messages.empty() && now.messages.front().role == "system" ? 1 : 0;
  for (const Step& step : alignMessages(before, now)) {
    if (step.isEqual) continue;
    const auto beforeSection = static_cast<std::int32_t>(step.before);
    const auto nowSection = static_cast<std::int32_t>(step.now);
    if (step.isPermuted) {
      add(Difference::Change::Permuted, beforeSection, nowSection);
      continue;
    }
    // A shorter history that goes on with an earlier message was cut.
    const bool isCut = step.beforeCount > step.nowCount;
    const std::size_t paired =
        isCut && step.nowCount <= 1 && step.now == first ? 0 : std::min(step.beforeCount, step.nowCount);
    for (std::size_t i = 0; i < paired; ++i) {
      Difference& difference = add(Difference::Change::Edited, beforeSection + static_cast<std::int32_t>(i),
                                   nowSection + static_cast<std::int32_t>(i));
      difference.beforeText = textAt(step.before + i);
      difference.nowText = messageText(now.messages[step.now + i]);
      difference.isFirstOfHistory = step.now + i == first;
      difference.isAtEnd = step.now + i + 1 == now.messages.size();
    }
    if (step.beforeCount > paired) {
      Difference& difference =
          add(Difference::Change::Removed, beforeSection + static_cast<std::int32_t>(paired),
              nowSection + static_cast<std::int32_t>(paired));
      difference.beforeText = textAt(step.before + paired);
      difference.isFirstOfHistory = step.now + paired == first;
      if (step.nowCount > paired) difference.nowText = messageText(now.messages[step.now + paired]);
    } else if (step.nowCount > paired) {
      Difference& difference =
          add(Difference::Change::Inserted, beforeSection + static_cast<std::int32_t>(paired),
              nowSection + static_cast<std::int32_t>(paired));
      difference.nowText = messageText(now.messages[step.now + paired]);
      difference.isFirstOfHistory = step.now + paired == first;
      difference.isAtEnd = step.now + step.nowCount == now.messages.size();
    }
  }
  return found;
}

std::vector<Finding> findCauses(const Difference& given) {
  constexpr int kMostAtOnce = 6;
  // Unrelated texts of two conversations can differ at a time by chance.
  const bool isChance = !given.isSameConversation && given.change == Difference::Change::Edited &&
                        given.nowSection != kToolsSection &&
                        !areVersions(given.beforeText, given.nowText, 60);
  std::vector<Finding> found;
  Difference difference = given;
  for (int round = 0; round < kMostAtOnce; ++round) {
    const std::size_t at = firstDifference(difference.beforeText, difference.nowText);
    if (round > 0 && difference.beforeText == difference.nowText) break;
    Finding finding{.cause = CauseId::Unknown, .section = given.nowSection};
    bool isFound = false;
    for (const Cause& cause : kCauses) {
      const bool isAboutPlace = cause.id == CauseId::Time || cause.id == CauseId::RandomText ||
                                cause.id == CauseId::WhiteSpace || cause.id == CauseId::KeyOrder;
      if (cause.matches == nullptr || (isChance && isAboutPlace)) continue;
      if (!cause.matches(difference, at, finding)) continue;
      finding.cause = cause.id;
      isFound = true;
      break;
    }
    if (!isFound && isToolsEdited(difference, at)) {
      finding.cause = CauseId::Tools;
      finding.detail = "a definition changed";
      setExcerpts(difference.beforeText, difference.nowText, at, {}, {}, finding);
      isFound = true;
    }
    if (!isFound) break;
    if (std::ranges::find(found, finding.cause, &Finding::cause) == found.end()) found.push_back(finding);
    if (difference.beforeText.empty() || !normalize(finding.cause, difference, at)) break;
  }
  return found;
}

std::optional<Finding> findCause(const LookupFacts& facts) {
  for (const Cause& cause : kCauses) {
    Finding finding{.cause = cause.id, .section = kEndSection};
    if (cause.explains != nullptr && cause.explains(facts, finding)) return finding;
  }
  return {};
}

std::optional<std::string> reordered(std::string_view before, std::string_view now) {
  const auto shared = sharedDocuments(before, now);
  if (!shared) return {};
  const auto one = chunksOf(before, shared->border, shared->keepsBorder);
  const auto other = chunksOf(now, shared->border, shared->keepsBorder);
  std::vector<bool> isTaken(other.size());
  std::string text;
  const auto add = [&](std::string_view chunk) {
    if (!text.empty()) text += shared->keepsBorder ? "\n" : shared->border;
    text += chunk;
  };
  for (const std::string_view chunk : one) {
    if (chunk.size() < kLeastDocument) continue;
    for (std::size_t i = 0; i < other.size(); ++i) {
      if (isTaken[i] || withoutNumber(other[i]) != withoutNumber(chunk)) continue;
      isTaken[i] = true;
      add(chunk);
      break;
    }
  }
  for (std::size_t i = 0; i < other.size(); ++i)
    if (!isTaken[i]) add(other[i]);
  return text;
}

}  // namespace spanscope::doctor
