// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/json_reading.h"

#include "engine/base/utf8.h"
#include "engine/query/diagnostic.h"
#include "engine/query/json/json_cursor.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace spanscope::text {
namespace {

using query::JsonCursor;
using query::JsonIssue;
using query::JsonKind;

/// Deep enough for every file that is not hostile: the walk recurses.
constexpr std::size_t kMaxDepth = 500;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Keeps the first issue of a walk.
class FirstIssue final : public query::ValueCursor::Listener {
 public:
  void jsonIssue(JsonIssue issue) override {
    if (!first) first = std::move(issue);
  }
  std::optional<JsonIssue> first;
};

std::string_view withoutMark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

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

/// Goes to the member of the object that comes next, of several with one name to the last, which is the one
/// that counts; back to the object if there is none.
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

/// Where a value begins, or, where it is absent, the innermost one around it that there is.
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

nlohmann::json parseJsonObject(std::string_view text, const std::string& file, const std::string& what) {
  nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  if (document.is_discarded()) throw Failure(syntaxError(withoutMark(text), file));
  if (!document.is_object()) {
    throw Failure({file, "1:1", "a JSON " + std::string(document.type_name()), what + ", a JSON object"});
  }
  return document;
}

std::string escapedStep(std::string_view name) {
  std::string step = "/";
  for (const char c : name) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

Failure withPosition(const Failure& failure, std::string_view text, const std::string& file) {
  Error error = failure.error();
  if (error.file != file || (!error.place.empty() && error.place.front() != '/')) return failure;
  text = withoutMark(text);
  const std::string position = lineAndColumn(text, offsetOf(text, error.place));
  error.place = error.place.empty() ? position : position + ": " + error.place;
  return Failure(std::move(error));
}

}  // namespace spanscope::text
