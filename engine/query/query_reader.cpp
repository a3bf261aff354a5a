// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/query_reader.h"

#include "engine/query/chat_reader.h"
#include "engine/query/field_readers.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <utility>

namespace spanscope::query {
namespace {

constexpr const char* kQueryForm = "a query: an object with one operator, such as {\"user\": \"text\"}";

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
    const auto found =
        std::find_if(all.begin(), all.end(), [key](const OperatorEntry& known) { return key == known.key; });
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
    if (kind == JsonKind::String) hint = "text stands under an operator: {\"user\": …}";
    if (kind == JsonKind::Array) hint = "a list of queries stands under an operator: {\"seq\": […]}";
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
          "one operator in each object", "several queries stand in a list: {\"seq\": […]}");
    }
    // The query is already refused, but its other errors are reported too.
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

}  // namespace spanscope::query
