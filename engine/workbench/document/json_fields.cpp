// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/document/json_fields.h"

#include "engine/base/utf8.h"
#include "engine/query/number_text.h"
#include "engine/query/shown_text.h"

#include <charconv>
#include <utility>

namespace spanscope::document {
namespace {

using query::JsonKind;

constexpr std::size_t kShownCharacters = 40;
constexpr std::size_t kMaxDiagnostics = 100;
/// Containers around a query in a document file, besides the containers of the query itself.
constexpr std::size_t kOuterDepth = 8;

std::string inQuotes(std::string_view text) {
  return "\"" + query::cutText(text, kShownCharacters) + "\"";
}

std::string rangeText(const std::string& what, const std::string& least, const std::string& most) {
  return what + " from " + least + " to " + most;
}

std::string shortNumber(double value) {
  std::string text(32, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

}  // namespace

JsonFields::JsonFields(std::string_view text)
    : m_text(text), m_cursor(text, query::kMaxDepth + kOuterDepth, *this) {}

bool JsonFields::objectFollows() {
  return m_cursor.peek() == JsonKind::Object;
}

bool JsonFields::listFollows() {
  return m_cursor.peek() == JsonKind::Array;
}

bool JsonFields::object(const std::function<bool(const std::string&)>& member) {
  if (!require(m_cursor.peek() == JsonKind::Object, "an object")) return false;
  std::set<std::string> seen;
  std::string key;
  m_cursor.enterObject();
  for (query::JsonCursor::Container container; m_cursor.nextMember(container, key);) {
    m_path.push_back(key);
    if (!seen.insert(key).second)
      error(container.keyOffset, "the field " + inQuotes(key) + " again", "each field once");
    if (!member(key)) {
      warning(container.keyOffset, "the unknown field " + inQuotes(key), {},
              "Spanscope leaves out this field");
      m_cursor.skipValue();
    }
    m_path.pop_back();
  }
  return !m_cursor.stopped();
}

bool JsonFields::map(std::size_t most, const std::function<void(const std::string&)>& member) {
  if (!require(m_cursor.peek() == JsonKind::Object, "an object")) return false;
  const std::size_t begin = m_cursor.offset();
  std::set<std::string> seen;
  std::string key;
  m_cursor.enterObject();
  for (query::JsonCursor::Container container; m_cursor.nextMember(container, key);) {
    m_path.push_back(key);
    if (!seen.insert(key).second)
      error(container.keyOffset, "the key " + inQuotes(key) + " again", "each key once");
    member(key);
    m_path.pop_back();
    if (seen.size() <= most) continue;
    error(begin, "more than " + std::to_string(most) + " entries", "fewer entries");
    m_cursor.stop();
  }
  return !m_cursor.stopped();
}

bool JsonFields::array(std::size_t most, const std::function<void(std::size_t)>& element) {
  if (!require(m_cursor.peek() == JsonKind::Array, "a list")) return false;
  const std::size_t begin = m_cursor.offset();
  std::size_t index = 0;
  m_cursor.enterArray();
  for (query::JsonCursor::Container container; m_cursor.nextElement(container); ++index) {
    if (index >= most) {
      error(begin, "more than " + std::to_string(most) + " entries", "fewer entries");
      m_cursor.stop();
      break;
    }
    m_path.push_back(std::to_string(index));
    element(index);
    m_path.pop_back();
  }
  return !m_cursor.stopped();
}

std::optional<std::string> JsonFields::text(std::size_t mostBytes) {
  if (!require(m_cursor.peek() == JsonKind::String, "a text")) return std::nullopt;
  const std::size_t begin = m_cursor.offset();
  std::string value = m_cursor.readString();
  if (value.size() <= mostBytes) return value;
  error(begin, "a text of " + std::to_string(value.size()) + " bytes",
        "at most " + std::to_string(mostBytes));
  return std::nullopt;
}

std::optional<double> JsonFields::number(double least, double most) {
  const std::string expected = rangeText("a number", shortNumber(least), shortNumber(most));
  if (!require(m_cursor.peek() == JsonKind::Number, expected)) return std::nullopt;
  const std::size_t begin = m_cursor.offset();
  const std::string_view digits = m_cursor.readNumber();
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec == std::errc() && value >= least && value <= most) return value;
  error(begin, "the number " + query::cutText(digits, kShownCharacters), expected);
  return std::nullopt;
}

std::optional<std::int64_t> JsonFields::whole(std::int64_t least, std::int64_t most) {
  const std::string expected = rangeText("a whole number", std::to_string(least), std::to_string(most));
  if (!require(m_cursor.peek() == JsonKind::Number, expected)) return std::nullopt;
  const std::size_t begin = m_cursor.offset();
  const std::string_view digits = m_cursor.readNumber();
  if (query::isWholeNumber(digits)) {
    const std::optional<std::int64_t> value = query::wholeNumberValue(digits);
    if (value && *value >= least && *value <= most) return value;
  }
  error(begin, "the number " + query::cutText(digits, kShownCharacters), expected);
  return std::nullopt;
}

std::optional<std::uint64_t> JsonFields::natural() {
  const std::string expected = "a whole number of 64 bits, from 0";
  if (!require(m_cursor.peek() == JsonKind::Number, expected)) return std::nullopt;
  const std::size_t begin = m_cursor.offset();
  const std::string_view digits = m_cursor.readNumber();
  std::uint64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) return value;
  error(begin, "the number " + query::cutText(digits, kShownCharacters), expected);
  return std::nullopt;
}

std::optional<bool> JsonFields::flag() {
  const JsonKind kind = m_cursor.peek();
  if (!require(kind == JsonKind::True || kind == JsonKind::False, "true or false")) return std::nullopt;
  m_cursor.readLiteral();
  return kind == JsonKind::True;
}

std::optional<std::vector<double>> JsonFields::numbers(std::size_t count, double least, double most) {
  const std::size_t begin = offset();
  std::vector<double> values;
  bool good = true;
  const bool whole = array(count, [&](std::size_t) {
    const std::optional<double> value = number(least, most);
    good = good && value.has_value();
    values.push_back(value.value_or(0));
  });
  if (!whole || !good) return std::nullopt;
  if (values.size() == count) return values;
  error(begin, std::to_string(values.size()) + " numbers", std::to_string(count));
  return std::nullopt;
}

query::SourceRange JsonFields::raw() {
  m_cursor.peek();
  const std::size_t begin = m_cursor.offset();
  m_cursor.skipValue();
  return {.begin = begin, .end = m_cursor.offset()};
}

void JsonFields::expectEnd() {
  m_cursor.expectEnd();
}

std::size_t JsonFields::offset() {
  m_cursor.peek();
  return m_cursor.offset();
}

std::string JsonFields::pointer() const {
  std::string pointer;
  for (const std::string& step : m_path) pointer += pointerStep(query::cutText(step, 5 * kShownCharacters));
  return pointer;
}

void JsonFields::error(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Error, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void JsonFields::warning(std::size_t offset, std::string found, std::string expected, std::string hint) {
  report(Severity::Warning, {offset, std::move(found), std::move(expected), std::move(hint)});
}

void JsonFields::jsonIssue(query::JsonIssue issue) {
  report(Severity::Error, std::move(issue));
}

void JsonFields::report(Severity severity, query::JsonIssue issue) {
  const bool isWarning = severity == Severity::Warning;
  if (isWarning && ++m_warnings > kMaxDiagnostics) return;
  m_diagnostics.push_back({.severity = severity,
                           .pointer = pointer(),
                           .position = {},
                           .offset = issue.offset,
                           .found = std::move(issue.found),
                           .expected = std::move(issue.expected),
                           .hint = std::move(issue.hint)});
  if (!isWarning && m_diagnostics.size() - std::min(m_warnings, kMaxDiagnostics) > kMaxDiagnostics)
    m_cursor.stop();
}

bool JsonFields::require(bool holds, const std::string& expected) {
  if (holds) return true;
  const JsonKind kind = m_cursor.peek();
  if (kind != JsonKind::End && kind != JsonKind::Invalid) error(m_cursor.offset(), kindText(kind), expected);
  m_cursor.skipValue();
  return false;
}

}  // namespace spanscope::document
