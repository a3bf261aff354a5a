// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_reader.h"

#include "engine/query/chat_reader.h"
#include "engine/query/node_parts.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <cstdint>

namespace spanscope::query {

namespace {

constexpr const char* kQueryForm =
    /*id:query-object-operator*/ "a query: an object with one operator, such as {\"user\": \"text\"}";

/// Reads an operator into `node`. If the operator has several kinds, `kind` is the index of its kind.
template <class Operator>
void readAs(const ReadContext& context, [[maybe_unused]] std::size_t kind, Node& node) {
  if constexpr (requires { Operator::kKinds; }) {
    readOperatorValue(context, node.value.emplace<Operator>(Operator::ofKind(Operator::kKinds[kind])));
  } else {
    readOperatorValue(context, node.value.emplace<Operator>());
  }
}

}  // namespace

/// How to read the value of an operator, by its key.
struct QueryReader::OperatorEntry {
  std::string_view key;
  std::size_t kind = 0;
  void (*read)(const ReadContext& context, std::size_t kind, Node& node) = nullptr;

  static const OperatorEntry* find(std::string_view key) {
    static const std::vector<OperatorEntry> all = [] {
      std::vector<OperatorEntry> entries;
      forEachOperator([&]<class Operator>() {
        std::size_t kind = 0;
        forEachKey<Operator>([&](const char* known, const auto& /*make*/) {
          entries.push_back({known, kind++, &readAs<Operator>});
        });
      });
      return entries;
    }();
    const auto found = std::ranges::find(all, key, &OperatorEntry::key);
    return found == all.end() ? nullptr : &*found;
  }
};

QueryReader::QueryReader(std::string_view text, const ParseLimits& limits,
                         const QueryWalk::MakeCursor& makeCursor)
    : m_makeCursor(makeCursor), m_walk(text, limits, makeCursor), m_cursor(m_walk.cursor()) {}

ParseResult QueryReader::read() {
  ParseResult result;
  Node root;
  const ChatForm chat = chatFormOf(m_cursor, m_makeCursor);
  if (chat == ChatForm::None) {
    readNode(root, {});
  } else {
    m_cursor.peek();
    readChat(m_walk, chat, m_sources, root);
  }
  m_cursor.expectEnd();
  if (m_walk.errors() == 0) {
    result.query = std::move(root);
    result.sources = std::move(m_sources);
  }
  result.diagnostics = m_walk.takeDiagnostics();
  return result;
}

void QueryReader::readNode(Node& node, std::string step) {
  const JsonKind kind = m_cursor.peek();
  const std::size_t begin = m_cursor.offset();
  if (!m_walk.countNode(begin)) return;
  if (kind != JsonKind::Object) {
    std::string hint;
    if (kind == JsonKind::String)
      hint = /*id:text-stands-under*/ "Text belongs under an operator: {\"user\": …}";
    if (kind == JsonKind::Array)
      hint = /*id:list-queries-stands*/ "A list of queries belongs under an operator: {\"seq\": […]}";
    m_walk.refuseValue(kQueryForm, std::move(hint));
    return;
  }

  const std::size_t entry = m_sources.open(std::move(step), begin);
  m_cursor.enterObject();
  ValueCursor::Container object;
  std::string first;
  std::string key;
  bool isRefused = false;
  std::size_t count = 0;
  while (m_cursor.nextMember(object, key)) {
    ++count;
    if (count == 1) {
      first = key;
      const OperatorEntry* op = OperatorEntry::find(key);
      isRefused = op == nullptr;
      if (isRefused) {
        readUnknownOperator(key, object.keyOffset);
      } else {
        readOperator(*op, node);
      }
      continue;
    }
    if (!isRefused) {
      isRefused = true;
      m_walk.error(
          object.keyOffset,
          key == first ? "the operator " + inQuotes(key) + " twice" : "a second key, " + inQuotes(key),
          /*id:operator-each-object*/ "one operator in each object",
          /*id:several-queries-stand*/ "Write several queries as a list: {\"seq\": […]}");
    }
    // The query is already refused, but the reader also reports its other errors.
    Node unused;
    if (const OperatorEntry* op = OperatorEntry::find(key)) {
      readOperator(*op, unused);
    } else {
      m_walk.within(key, [this] { m_cursor.skipValue(); });
    }
  }
  if (!m_cursor.stopped() && count == 0) m_walk.error(begin, "an empty object", kQueryForm);
  m_sources.close(entry, m_cursor.offset());
}

void QueryReader::readUnknownOperator(const std::string& key, std::size_t offset) {
  m_walk.within(key, [&] {
    m_walk.error(offset, "the unknown operator " + inQuotes(key), "one of " + operatorKeys(),
                 hintForOperator(key));
    m_cursor.skipValue();
  });
}

void QueryReader::readOperator(const OperatorEntry& entry, Node& node) {
  m_walk.within(std::string(entry.key), [&] {
    entry.read({m_walk, *this, entry.key.data()}, entry.kind, node);
  });
}

bool hasNoPrompt(const Node& node) {
  switch (infoOf(node).gives) {
    case Gives::Text:
      return textOf(node)->empty();
    case Gives::Nothing:
      return true;
    case Gives::Children: {
      const std::vector<ChildRef> children = childrenOf(node);
      return std::ranges::all_of(children, [](const ChildRef& child) { return hasNoPrompt(*child.node); });
    }
    case Gives::Answer:
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
    context.walk.refuseValue(
        /*id:list-queries*/ "a list of queries",
        next == JsonKind::Object ? /*id:put-query-into*/ "Put the query into a list: […]" : "");
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
    context.walk.warning(begin, std::string("a ") + context.key + " without queries",
                         /*id:one-query-least*/ "at least one query", "the node adds nothing to the prompt");
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
        context.walk.refuseValue(
            "text", std::string(/*id:the-inputs-of*/ "The inputs of a ") + context.key +
                        /*id:texts-each-becomes*/ " are texts. Each text becomes a user message");
      } else {
        readText(context.walk, texts.back(), "text");
      }
    });
  }
  if (!cursor.stopped() && texts.empty()) {
    context.walk.warning(begin, std::string("a ") + context.key + " without inputs",
                         /*id:one-input-least*/ "at least one input", "the node adds nothing to the prompt");
  }
}

void readOlderGenerate(const ReadContext& context, Generate& generate, const std::string& pointer) {
  constexpr const char* kForm = "a generate node: {\"g\": {…}}";
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
                         kForm, /*id:generate-can-repeated*/ "Only a generate node can be repeated");
      cursor.skipValue();
    });
  }
  if (!cursor.stopped() && count == 0) context.walk.error(begin, "an empty object", kForm);
}

namespace {

void readDocumentContent(QueryWalk& walk, SourceDocument& document) {
  constexpr const char* kForm = "{\"Text\": …} or {\"Binary\": […]}";
  if (walk.cursor().peek() != JsonKind::Object) {
    walk.refuseValue(kForm);
    return;
  }
  const std::size_t begin = walk.cursor().offset();
  walk.cursor().enterObject();
  std::size_t count = 0;
  std::string key;
  for (ValueCursor::Container object; walk.cursor().nextMember(object, key); ++count) {
    walk.within(key, [&] {
      if (count > 0 || (key != "Text" && key != "Binary")) {
        const auto meant = nearestName(key, {"Text", "Binary"});
        walk.error(object.keyOffset, (count == 0 ? "the key " : "a second key, ") + inQuotes(key), kForm,
                   count == 0 && meant ? "did you mean \"" + *meant + "\"?" : "");
        walk.cursor().skipValue();
      } else if (key == "Text") {
        readText(walk, document.content.emplace<std::string>(), "the text of the document");
      } else {
        readBytes(walk, document.content.emplace<std::vector<std::uint8_t>>());
      }
    });
  }
  if (!walk.cursor().stopped() && count == 0) walk.error(begin, "an empty object", kForm);
}

}  // namespace

void readDocument(QueryWalk& walk, SourceDocument& document) {
  constexpr const char* kForm =
      /*id:list-two-name*/ "a list of two elements: a name, and {\"Text\": …} or {\"Binary\": […]}";
  if (walk.cursor().peek() != JsonKind::Array) {
    walk.refuseValue(kForm);
    return;
  }
  const std::size_t begin = walk.cursor().offset();
  walk.cursor().enterArray();
  std::size_t count = 0;
  for (ValueCursor::Container array; walk.cursor().nextElement(array); ++count) {
    walk.within(std::to_string(count), [&] {
      if (count == 0) {
        readText(walk, document.name, "the name of a document");
      } else if (count == 1) {
        readDocumentContent(walk, document);
      } else {
        if (count == 2) walk.refuseExtraElement(kForm);
        walk.cursor().skipValue();
      }
    });
  }
  if (!walk.cursor().stopped() && count < 2) {
    walk.error(begin, count == 0 ? "an empty list" : /*id:list-element*/ "a list of one element", kForm);
  }
}

}  // namespace spanscope::query
