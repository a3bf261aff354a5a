// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/records/json_members.h"

#include "engine/doctor/log_reader.h"

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

namespace spanscope::doctor {
namespace {

std::optional<std::int64_t> secondsOfDate(int year, int month, int day) {
  if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1970 || year > 9999) return {};
  const std::chrono::sys_days days{std::chrono::year(year) /
                                   std::chrono::month(static_cast<unsigned>(month)) /
                                   std::chrono::day(static_cast<unsigned>(day))};
  return std::chrono::duration_cast<std::chrono::seconds>(days.time_since_epoch()).count();
}

}  // namespace

std::string faultOfShape(std::string_view text) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '{' || c == '[') {
      members.push_back(0);
      if (members.size() > kMaxRecordDepth)
        return "JSON of more than " + std::to_string(kMaxRecordDepth) + " levels";
    } else if (c == '}' || c == ']') {
      if (!members.empty()) members.pop_back();
    } else if (c == ':' && !members.empty() && ++members.back() > kMaxMembers) {
      return "a JSON object of more than " + std::to_string(kMaxMembers) + " members";
    }
  }
  return {};
}

Json parseWithinLimits(std::string_view text) {
  return faultOfShape(text).empty() ? Json::parse(text, nullptr, false)
                                    : Json(nlohmann::detail::value_t::discarded);
}

const Json* memberOf(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(name));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

const Json* memberAt(const Json& object, std::initializer_list<std::string_view> names) {
  const Json* place = &object;
  for (const std::string_view name : names) {
    place = memberOf(*place, name);
    if (place == nullptr) return nullptr;
  }
  return place;
}

std::string textOfJson(const Json* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  return value->is_number_integer() ? value->dump() : std::string();
}

std::optional<std::int64_t> countOfJson(const Json* value) {
  if (value == nullptr) return {};
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  if (value->is_string()) {  // OTLP writes integers as texts
    std::int64_t number = 0;
    const auto& text = value->get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > kMost) return {};
    return number;
  }
  if (!value->is_number()) return {};
  const double number = value->get<double>();
  if (!(number >= 0) || number > static_cast<double>(kMost)) return {};
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> timeOfJson(const Json* value) {
  if (value == nullptr) return {};
  if (value->is_number() ||
      (value->is_string() && !value->get_ref<const std::string&>().empty() &&
       value->get_ref<const std::string&>().find_first_not_of("0123456789.") == std::string::npos)) {
    double number = 0;
    if (value->is_number()) {
      number = value->get<double>();
    } else {
      const auto& digits = value->get_ref<const std::string&>();
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
    }
    if (!(number > 0) || number > 1e19) return {};
    double milliseconds = number * 1000;
    for (const double limit : {1e11, 1e14, 1e17})  // larger numbers count smaller units
      if (number > limit) milliseconds = number * 1000 / (limit * 1e-8);
    return static_cast<std::int64_t>(std::llround(milliseconds));
  }
  if (!value->is_string()) return {};
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() < 19) return {};
  const auto number = [&](std::size_t begin, std::size_t count) {
    int result = -1;
    std::from_chars(text.data() + begin, text.data() + begin + count, result);
    return result;
  };
  const auto days = secondsOfDate(number(0, 4), number(5, 2), number(8, 2));
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  if (!days || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return {};
  std::int64_t milliseconds = (*days + hour * 3600 + minute * 60 + second) * 1000;
  std::size_t end = 19;
  if (end < text.size() && text[end] == '.') {
    std::int64_t scale = 100;
    for (++end; end < text.size() && text[end] >= '0' && text[end] <= '9'; ++end, scale /= 10)
      milliseconds += (text[end] - '0') * scale;
  }
  if (end + 6 <= text.size() && (text[end] == '+' || text[end] == '-')) {
    const std::int64_t offset = (number(end + 1, 2) * 60 + number(end + 4, 2)) * 60'000;
    milliseconds += text[end] == '+' ? -offset : offset;
  }
  return milliseconds;
}

}  // namespace spanscope::doctor
