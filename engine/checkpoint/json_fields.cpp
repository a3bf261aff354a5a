// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/json_fields.h"

#include "engine/base/error.h"

#include <cmath>
#include <set>
#include <utility>

namespace spanscope::checkpoint {

using nlohmann::json;

std::string inQuotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (result.size() > kLongest && (byte & 0xC0U) != 0x80U) return result + "…\"";
    if (byte < 0x20U || byte == 0x7FU) {
      result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15U]};
    } else {
      result += c;
    }
  }
  return result + "\"";
}

namespace {

std::string describe(const json& value) {
  switch (value.type()) {
    case json::value_t::object:
      return "an object";
    case json::value_t::array:
      return "an array of " + std::to_string(value.size());
    case json::value_t::string:
      return inQuotes(value.get_ref<const std::string&>());
    default:
      return value.dump();
  }
}

std::string shown(double value) {
  return json(value).dump();
}

}  // namespace

json parseJsonObject(std::string_view text, const std::string& source) {
  if (text.size() > kMaxJsonBytes) {
    throw Failure({source, "", std::to_string(text.size()) + " bytes",
                   "at most " + std::to_string(kMaxJsonBytes) + " bytes of JSON"});
  }
  // The parser takes a NUL for the end and would not look at what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw Failure({source, "byte " + std::to_string(nul), "a NUL", "JSON"});
  }
  std::vector<std::set<std::string>> names;  // of the objects that are open
  std::optional<Error> problem;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (problem) return false;
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (static_cast<std::size_t>(depth) >= kMaxJsonDepth) {
          problem = Error{source, "", "more levels",
                          "at most " + std::to_string(kMaxJsonDepth) + " levels of nesting"};
        }
        if (event == json::parse_event_t::object_start) names.emplace_back();
        break;
      case json::parse_event_t::object_end:
        names.pop_back();
        break;
      case json::parse_event_t::key:
        if (!names.back().insert(parsed.get<std::string>()).second) {
          problem = Error{source, "", inQuotes(parsed.get<std::string>()) + " twice",
                          "every name once in an object"};
        }
        break;
      default:
        break;
    }
    return true;
  };
  json document;
  try {
    document = json::parse(text, watch);
  } catch (const json::parse_error& error) {
    if (!problem) problem = Error{source, "byte " + std::to_string(error.byte), "a syntax error", "JSON"};
  } catch (const json::out_of_range&) {
    problem = Error{source, "", "a number beyond the range of a double", "JSON with finite numbers"};
  }
  if (problem) throw Failure(*problem);
  if (!document.is_object()) throw Failure({source, "", describe(document), "a JSON object"});
  return document;
}

JsonFields::JsonFields(const json& object, std::string source, std::string pointer)
    : m_object(&object), m_source(std::move(source)), m_pointer(std::move(pointer)) {}

const json* JsonFields::find(const char* name) const {
  const auto field = m_object->find(name);
  return field == m_object->end() || field->is_null() ? nullptr : &*field;
}

void JsonFields::fail(const char* name, const std::string& found, const std::string& expected) const {
  throw Failure({m_source, m_pointer + "/" + name, found, expected});
}

std::int64_t JsonFields::checkedInteger(const json& value, const char* name, std::int64_t least,
                                        std::int64_t most) const {
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::uint64_t{INT64_MAX}) &&
                    value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
  if (!fits) {
    fail(name, describe(value), "an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value.get<std::int64_t>();
}

std::int64_t JsonFields::integer(const char* name, std::int64_t least, std::int64_t most) const {
  const json* value = find(name);
  if (value == nullptr) {
    fail(name, "nothing", "an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return checkedInteger(*value, name, least, most);
}

std::int64_t JsonFields::integer(const char* name, std::int64_t least, std::int64_t most,
                                 std::int64_t otherwise) const {
  return has(name) ? integer(name, least, most) : otherwise;
}

double JsonFields::number(const char* name, double least, double most) const {
  const json* value = find(name);
  const std::string expected = "a number from " + shown(least) + " to " + shown(most);
  if (value == nullptr) fail(name, "nothing", expected);
  if (!value->is_number()) fail(name, describe(*value), expected);
  const double number = value->get<double>();
  if (!(number >= least && number <= most)) fail(name, describe(*value), expected);
  return number;
}

double JsonFields::number(const char* name, double least, double most, double otherwise) const {
  return has(name) ? number(name, least, most) : otherwise;
}

bool JsonFields::flag(const char* name, bool otherwise) const {
  const json* value = find(name);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) fail(name, describe(*value), "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonFields::text(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail(name, describe(*value), "a string");
  return value->get<std::string>();
}

std::vector<std::string> JsonFields::texts(const char* name) const {
  std::vector<std::string> result;
  const json* value = find(name);
  if (value == nullptr) return result;
  if (!value->is_array()) fail(name, describe(*value), "an array of strings");
  for (const json& element : *value) {
    if (!element.is_string()) fail(name, describe(element), "an array of strings");
    result.push_back(element.get<std::string>());
  }
  return result;
}

std::vector<std::int64_t> JsonFields::integers(const char* name, std::int64_t least,
                                               std::int64_t most) const {
  std::vector<std::int64_t> result;
  const json* value = find(name);
  if (value == nullptr) return result;
  if (!value->is_array()) return {checkedInteger(*value, name, least, most)};
  for (const json& element : *value) result.push_back(checkedInteger(element, name, least, most));
  return result;
}

std::optional<JsonFields> JsonFields::object(const char* name) const {
  const json* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) fail(name, describe(*value), "an object");
  return JsonFields(*value, m_source, m_pointer + "/" + name);
}

}  // namespace spanscope::checkpoint
