// SPDX-License-Identifier: GPL-3.0-or-later
// The cause "key_order": the same JSON with its members in another order.
#include "engine/base/translation.h"
#include "engine/doctor/causes/cause_rows.h"
#include "engine/doctor/causes/changed_text.h"
#include "engine/doctor/causes/ids.h"
#include "engine/doctor/causes/times.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::doctor {
namespace {

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

/// The JSON with texts in place of dates and ids, and without numbers, to compare the names of members alone.
template <class Json>
void maskValues(Json& value) {
  if (value.is_string()) {
    const auto text = value.template get<std::string>();
    const std::string first = masked(text, timesIn(text), "\x01");
    value = masked(first, idsIn(first), "\x02");
  } else if (value.is_number()) {
    value = 0;
  } else if (value.is_structured()) {
    for (auto& inner : value) maskValues(inner);
  }
}

bool isKeyOrder(const Difference& d, std::size_t at, Finding& finding) {
  if (d.change != Difference::Change::Edited) return false;
  const auto pair = jsonPairAt(d.beforeText, d.nowText, at);
  if (!pair || pair->beforeSorted.is_discarded() || pair->nowSorted.is_discarded()) return false;
  const std::string_view before =
      std::string_view(d.beforeText).substr(pair->before.begin, pair->before.end - pair->before.begin);
  const std::string_view now =
      std::string_view(d.nowText).substr(pair->now.begin, pair->now.end - pair->now.begin);
  nlohmann::ordered_json beforeAsWritten = nlohmann::ordered_json::parse(before, nullptr, false);
  nlohmann::ordered_json nowAsWritten = nlohmann::ordered_json::parse(now, nullptr, false);
  // An ordered JSON compares the order of members, too.
  if (beforeAsWritten == nowAsWritten) return false;
  nlohmann::json one = pair->beforeSorted;
  nlohmann::json other = pair->nowSorted;
  if (one != other) {
    // The first difference must be a name at another place, not a changed value.
    maskValues(one);
    maskValues(other);
    if (one != other) return false;
    maskValues(beforeAsWritten);
    maskValues(nowAsWritten);
    if (beforeAsWritten == nowAsWritten) return false;
  }
  setExcerpts(d.beforeText, d.nowText, at, {}, {}, finding);
  return true;
}

/// Sorts the members in both texts.
bool sortMembers(Difference& d, std::size_t at) {
  const auto pair = jsonPairAt(d.beforeText, d.nowText, at);
  if (!pair) return false;
  d.beforeText.replace(pair->before.begin, pair->before.end - pair->before.begin, pair->beforeSorted.dump());
  d.nowText.replace(pair->now.begin, pair->now.end - pair->now.begin, pair->nowSorted.dump());
  return true;
}

}  // namespace

Cause keyOrderCause() {
  return {.id = CauseId::KeyOrder,
          .key = "key_order",
          .name = forTranslation("Causes", "order of JSON members"),
          .sentence = forTranslation("Causes", "The members of a JSON object have another order."),
          .example = R"({"a":1,"b":2} → {"b":2,"a":1})",
          .cure = forTranslation("Causes", "Sort the members of JSON objects before you send the request."),
          .isEdit = true,
          .matches = isKeyOrder,
          .explains = nullptr,
          .remove = sortMembers};
}

}  // namespace spanscope::doctor
