// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/json_reading.h"

#include "engine/base/utf8.h"
#include "engine/query/diagnostic.h"
#include "engine/query/json/json_cursor.h"

#include <algorithm>
#include <set>

namespace spanscope::checkpoint {
namespace {

using query::JsonCursor;
using query::JsonIssue;
using query::JsonKind;

/// Limited, because the walk is recursive. Deep enough for every file that is not hostile.
constexpr std::size_t kMaxDepth = 500;

/// Keeps the first issue of a walk.
class FirstIssue final : public query::ValueCursor::Listener {
 public:
  void jsonIssue(JsonIssue issue) override {
    if (!first) first = std::move(issue);
  }
  std::optional<JsonIssue> first;
};

/// "12:5", counted as in errors of queries.
std::string lineAndColumn(std::string_view text, std::size_t offset) {
  const query::TextPosition position = query::positionAt(text, offset);
  return std::to_string(position.line) + ":" + std::to_string(position.column);
}

Error syntaxError(std::string_view text, const std::string& file) {
  if (const std::size_t invalid = findInvalidUtf8(text); invalid != std::string_view::npos) {
    return {file, lineAndColumn(text.substr(0, invalid), invalid), "bytes that are not UTF-8", "UTF-8"};
  }
  FirstIssue listener;
  JsonCursor cursor(text, kMaxDepth, listener);
  cursor.skipValue();
  if (!cursor.stopped() && cursor.peek() != JsonKind::End) {
    return {file, lineAndColumn(text, cursor.offset()), "more text", "the end of the file after one value"};
  }
  if (!listener.first) return {file, "", "a syntax error", "JSON"};
  return {file, lineAndColumn(text, listener.first->offset), std::move(listener.first->found),
          std::move(listener.first->expected)};
}

/// The reference tokens of a JSON pointer.
std::vector<std::string> stepsOf(std::string_view pointer) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      steps.emplace_back();
    } else if (!steps.empty() && pointer[i] == '~' && i + 1 < pointer.size()) {
      steps.back() += pointer[++i] == '1' ? '/' : '~';
    } else if (!steps.empty()) {
      steps.back() += pointer[i];
    }
  }
  return steps;
}

/// Enters the next object and goes to its member `name`. Of several members with this name, goes to the last
/// one, which counts. Returns to the object if there is none.
bool goToMember(JsonCursor& cursor, const std::string& name) {
  const JsonCursor::Mark object = cursor.mark();
  std::optional<JsonCursor::Mark> member;
  cursor.enterObject();
  std::string key;
  for (JsonCursor::Container container; cursor.nextMember(container, key);) {
    cursor.peek();
    if (key == name) member = cursor.mark();
    cursor.skipValue();
  }
  cursor.goTo(member.value_or(object));
  return member.has_value();
}

bool goToElement(JsonCursor& cursor, const std::string& index) {
  const JsonCursor::Mark array = cursor.mark();
  std::size_t count = 0;
  cursor.enterArray();
  for (JsonCursor::Container container; cursor.nextElement(container); ++count) {
    cursor.peek();
    if (std::to_string(count) == index) return true;
    cursor.skipValue();
  }
  cursor.goTo(array);
  return false;
}

/// Returns where a value begins. For an absent value, returns where the innermost existing value around the
/// place begins.
std::size_t offsetOf(std::string_view text, std::string_view pointer) {
  FirstIssue ignored;
  JsonCursor cursor(text, kMaxDepth, ignored);
  for (const std::string& step : stepsOf(pointer)) {
    const JsonKind kind = cursor.peek();
    const bool found = (kind == JsonKind::Object && goToMember(cursor, step)) ||
                       (kind == JsonKind::Array && goToElement(cursor, step));
    if (!found) break;
  }
  cursor.peek();
  return cursor.offset();
}

}  // namespace

std::string inQuotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (result.size() > kLongest && (byte & 0xC0U) != 0x80U) return result + "…\"";
    if (byte < 0x20U || byte == 0x7FU) {
      result += "\\x";
      appendHex(result, byte, 2);
    } else {
      result += c;
    }
  }
  return result + "\"";
}

namespace {

std::string describe(const nlohmann::json& value) {
  switch (value.type()) {
    case nlohmann::json::value_t::null:
      return "nothing";
    case nlohmann::json::value_t::object:
      return "an object";
    case nlohmann::json::value_t::array:
      return "an array of " + std::to_string(value.size());
    case nlohmann::json::value_t::string:
      return inQuotes(value.get_ref<const std::string&>());
    default:
      return value.dump();
  }
}

std::string shown(double value) {
  return nlohmann::json(value).dump();
}

std::string integerRange(std::int64_t least, std::int64_t most) {
  return "an integer from " + std::to_string(least) + " to " + std::to_string(most);
}

/// Refuses violations of the rules while a document is parsed.
class RuleWatch {
 public:
  explicit RuleWatch(const JsonRules& rules) : m_rules(rules) {}

  bool operator()(int depth, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (m_problem) return false;
    if (event == Event::object_start || event == Event::array_start) {
      if (m_rules.maxDepth > 0 && static_cast<std::size_t>(depth) >= m_rules.maxDepth) {
        m_problem = errorAt({}, "too many levels",
                            "at most " + std::to_string(m_rules.maxDepth) + " levels of nesting");
      }
      if (event == Event::object_start) m_names.emplace_back();
    } else if (event == Event::object_end) {
      m_names.pop_back();
    } else if (event == Event::key && !m_names.back().insert(parsed.get<std::string>()).second) {
      m_problem = errorAt({}, inQuotes(parsed.get<std::string>()) + " twice", "every name once in an object");
    }
    return true;
  }

  const std::optional<Error>& problem() const { return m_problem; }

 private:
  JsonRules m_rules;
  std::vector<std::set<std::string>> m_names;  ///< of the open objects
  std::optional<Error> m_problem;
};

}  // namespace

std::string withQuotedNotFinite(std::string_view text) {
  std::string result;
  result.reserve(text.size() + 64);
  bool isInText = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (isInText) {
      const std::size_t length = c == '\\' && i + 1 < text.size() ? 2 : 1;
      isInText = c != '"';
      result += text.substr(i, length);
      i += length;
      continue;
    }
    isInText = c == '"';
    std::string_view number;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (text.substr(i, word.size()) == word) number = word;
    }
    if (number.empty()) {
      result += c;
      ++i;
    } else {
      result += '"' + std::string(number) + '"';
      i += number.size();
    }
  }
  return result;
}

nlohmann::json parseJsonObject(std::string_view text, const std::string& file, const std::string& what,
                               const JsonRules& rules) {
  if (text.size() > rules.maxBytes) {
    throw Failure({file, "", std::to_string(text.size()) + " bytes",
                   "at most " + std::to_string(rules.maxBytes) + " bytes of JSON"});
  }
  // The parser reads a NUL as the end and would ignore the text after the NUL.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    throw Failure({file, lineAndColumn(text.substr(0, nul), nul), "a NUL", "JSON"});
  nlohmann::json document;
  if (rules.namesOnce || rules.maxDepth > 0) {
    RuleWatch watch(rules);
    document = nlohmann::json::parse(
        text,
        [&watch](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
          return watch(depth, event, parsed);
        },
        false);
    if (watch.problem()) {
      Error error = *watch.problem();
      error.file = file;
      throw Failure(std::move(error));
    }
  } else {
    document = nlohmann::json::parse(text, nullptr, false);
  }
  if (document.is_discarded()) throw Failure(syntaxError(withoutByteOrderMark(text), file));
  if (!document.is_object()) {
    throw Failure({file, "1:1", "a JSON " + std::string(document.type_name()), what + ", a JSON object"});
  }
  return document;
}

Failure withPosition(const Failure& failure, std::string_view text, const std::string& file) {
  Error error = failure.error();
  if (error.file != file || (!error.place.empty() && error.place.front() != '/')) return failure;
  text = withoutByteOrderMark(text);
  const std::string position = lineAndColumn(text, offsetOf(text, error.place));
  error.place = error.place.empty() ? position : position + ": " + error.place;
  return Failure(std::move(error));
}

Failure JsonPlace::fail(std::string found, std::string expected) const {
  return Failure({*m_file, m_pointer, std::move(found), std::move(expected)});
}

Failure JsonPlace::unexpected(const std::string& expected) const {
  return fail(describe(*m_value), expected);
}

JsonPlace JsonPlace::field(const std::string& name) const {
  static const nlohmann::json kAbsent;
  requireObject();
  const auto found = m_value->find(name);
  return member(name, found == m_value->end() ? kAbsent : *found);
}

JsonPlace JsonPlace::member(std::string_view name, const nlohmann::json& value) const {
  return {value, m_pointer + pointerStep(name), *m_file};
}

JsonPlace JsonPlace::element(std::size_t index) const {
  return {(*m_value)[index], m_pointer + "/" + std::to_string(index), *m_file};
}

void JsonPlace::requireObject() const {
  if (!m_value->is_object()) throw unexpected("an object");
}

std::size_t JsonPlace::requireList(std::size_t limit) const {
  if (!m_value->is_array()) throw unexpected("a list");
  if (m_value->size() > limit)
    throw fail(std::to_string(m_value->size()) + " elements", "at most " + std::to_string(limit));
  return m_value->size();
}

const std::string& JsonPlace::requireText() const {
  if (!m_value->is_string()) throw unexpected("a text");
  return m_value->get_ref<const std::string&>();
}

std::string JsonPlace::textOrEmpty() const {
  return isNull() ? std::string() : requireText();
}

bool JsonPlace::boolOr(bool absent) const {
  if (isNull()) return absent;
  if (!m_value->is_boolean()) throw unexpected("true or false");
  return m_value->get<bool>();
}

std::int64_t JsonPlace::requireInteger(std::int64_t least, std::int64_t most) const {
  const bool fits =
      m_value->is_number_integer() &&
      (!m_value->is_number_unsigned() || m_value->get<std::uint64_t>() <= std::uint64_t{INT64_MAX}) &&
      m_value->get<std::int64_t>() >= least && m_value->get<std::int64_t>() <= most;
  if (!fits) throw unexpected(integerRange(least, most));
  return m_value->get<std::int64_t>();
}

std::int32_t JsonPlace::requireId() const {
  return static_cast<std::int32_t>(requireInteger(0, INT32_MAX));
}

std::int64_t JsonPlace::integer(const std::string& name, std::int64_t least, std::int64_t most) const {
  return field(name).requireInteger(least, most);
}

std::int64_t JsonPlace::integer(const std::string& name, std::int64_t least, std::int64_t most,
                                std::int64_t otherwise) const {
  const JsonPlace place = field(name);
  return place.isNull() ? otherwise : place.requireInteger(least, most);
}

double JsonPlace::requireNumber(double least, double most) const {
  const bool fits = value().is_number() && value().get<double>() >= least && value().get<double>() <= most;
  if (!fits) throw unexpected("a number from " + shown(least) + " to " + shown(most));
  return value().get<double>();
}

double JsonPlace::number(const std::string& name, double least, double most) const {
  return field(name).requireNumber(least, most);
}

double JsonPlace::number(const std::string& name, double least, double most, double otherwise) const {
  return has(name) ? number(name, least, most) : otherwise;
}

std::optional<std::string> JsonPlace::text(const std::string& name) const {
  const JsonPlace place = field(name);
  if (place.isNull()) return std::nullopt;
  return place.requireText();
}

std::vector<std::string> JsonPlace::texts(const std::string& name) const {
  std::vector<std::string> result;
  const JsonPlace place = field(name);
  if (place.isNull()) return result;
  if (!place.value().is_array()) throw place.unexpected("a list of texts");
  for (std::size_t i = 0; i < place.value().size(); ++i) result.push_back(place.element(i).requireText());
  return result;
}

std::vector<std::int64_t> JsonPlace::integers(const std::string& name, std::int64_t least,
                                              std::int64_t most) const {
  std::vector<std::int64_t> result;
  const JsonPlace place = field(name);
  if (place.isNull()) return result;
  if (!place.value().is_array()) return {place.requireInteger(least, most)};
  for (std::size_t i = 0; i < place.value().size(); ++i)
    result.push_back(place.element(i).requireInteger(least, most));
  return result;
}

std::vector<double> JsonPlace::numbers(const std::string& name, double least, double most) const {
  std::vector<double> result;
  const JsonPlace place = field(name);
  if (place.isNull()) return result;
  place.requireList(std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 0; i < place.value().size(); ++i)
    result.push_back(place.element(i).requireNumber(least, most));
  return result;
}

std::optional<JsonPlace> JsonPlace::object(const std::string& name) const {
  JsonPlace place = field(name);
  if (place.isNull()) return std::nullopt;
  place.requireObject();
  return place;
}

}  // namespace spanscope::checkpoint
