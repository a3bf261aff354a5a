// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/field_readers.h"

#include "engine/query/node_parts.h"
#include "engine/query/shown_text.h"

#include <algorithm>

namespace spanscope::query {

bool hasNoPrompt(const Node& node) {
  switch (infoOf(node).gives) {
    case Gives::Text:
      return textOf(node)->empty();
    case Gives::Nothing:
      return true;
    case Gives::Children: {
      const std::vector<ChildRef> children = childrenOf(node);
      return std::all_of(children.begin(), children.end(),
                         [](const ChildRef& child) { return hasNoPrompt(*child.node); });
    }
    case Gives::Reply:
    case Gives::Resolved:
      return false;
  }
  return false;
}

void readChildren(const ReadContext& context, std::vector<Node>& children, const std::string& pointer) {
  ValueCursor& cursor = context.walk.cursor();
  const JsonKind next = cursor.peek();
  const std::size_t begin = cursor.offset();
  if (next != JsonKind::Array) {
    context.walk.refuseValue("a list of queries",
                             next == JsonKind::Object ? "put the query into a list: […]" : "");
    return;
  }
  const std::string step = pointer + "/";
  cursor.enterArray();
  for (ValueCursor::Container array; cursor.nextElement(array);) {
    const std::string index = std::to_string(children.size());
    children.emplace_back();
    context.walk.within(index, [&] { context.nodes.readNode(children.back(), step + index); });
  }
  if (!cursor.stopped() && children.empty()) {
    context.walk.warning(begin, std::string("a ") + context.key + " without queries", "at least one",
                         "it adds nothing");
  }
}

void readTexts(const ReadContext& context, std::vector<std::string>& texts) {
  ValueCursor& cursor = context.walk.cursor();
  if (cursor.peek() != JsonKind::Array) {
    context.walk.refuseValue("a list of texts");
    return;
  }
  const std::size_t begin = cursor.offset();
  cursor.enterArray();
  for (ValueCursor::Container array; cursor.nextElement(array);) {
    const JsonKind kind = cursor.peek();
    if (!context.walk.countNode(cursor.offset())) return;
    texts.emplace_back();
    context.walk.within(std::to_string(texts.size() - 1), [&] {
      if (kind == JsonKind::Object) {
        context.walk.refuseValue("text", std::string("the inputs of a ") + context.key +
                                             " are texts; each becomes a user message");
      } else {
        readText(context.walk, texts.back(), "text");
      }
    });
  }
  if (!cursor.stopped() && texts.empty()) {
    context.walk.warning(begin, std::string("a ") + context.key + " without inputs", "at least one",
                         "it adds nothing");
  }
}

void readOlderGenerate(const ReadContext& context, Generate& generate, const std::string& pointer) {
  constexpr const char* kForm = "a generate: {\"g\": {…}}";
  ValueCursor& cursor = context.walk.cursor();
  if (cursor.peek() != JsonKind::Object) {
    context.walk.refuseValue(kForm);
    return;
  }
  const std::size_t begin = cursor.offset();
  cursor.enterObject();
  std::size_t count = 0;
  std::string key;
  for (ValueCursor::Container object; cursor.nextMember(object, key); ++count) {
    context.walk.within(key, [&] {
      if (key == Generate::kKey && count == 0) {
        FieldsReader<Generate>(context, generate, pointer).read();
        return;
      }
      context.walk.error(object.keyOffset, (count == 0 ? "the key " : "a second key, ") + inQuotes(key),
                         kForm, "only a generate can be repeated");
      cursor.skipValue();
    });
  }
  if (!cursor.stopped() && count == 0) context.walk.error(begin, "an empty object", kForm);
}

}  // namespace spanscope::query
