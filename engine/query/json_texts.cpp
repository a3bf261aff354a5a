// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json_texts.h"

#include "engine/query/json/json_cursor.h"

#include <utility>

namespace spanscope::query {
namespace {

class FirstIssue final : public ValueCursor::Listener {
 public:
  std::optional<JsonIssue> issue;
  void jsonIssue(JsonIssue found) override {
    if (!issue) issue = std::move(found);
  }
};

}  // namespace

std::optional<std::vector<std::string>> readJsonTexts(std::string_view json) {
  FirstIssue listener;
  JsonCursor cursor(json, 1, listener);
  if (cursor.peek() != JsonKind::Array) return std::nullopt;
  std::vector<std::string> texts;
  cursor.enterArray();
  for (ValueCursor::Container array; cursor.nextElement(array);) {
    if (cursor.peek() != JsonKind::String) return std::nullopt;
    texts.push_back(cursor.readString());
  }
  cursor.expectEnd();
  if (listener.issue) return std::nullopt;
  return texts;
}

}  // namespace spanscope::query
