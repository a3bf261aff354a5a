// SPDX-License-Identifier: GPL-3.0-or-later
// Reads operators from a document of values by the field lists of the operators. Open this file when JSON or
// YAML is read wrongly.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/query_walk.h"
#include "engine/query/visit_fields.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::query {

/// Reads the document of an augment. The document is a list of two values: a name and a content. Reports
/// errors in this list.
void readDocument(QueryWalk& walk, SourceDocument& document);

// Reads the fields of an operator from a document of values. The field list of the operator names the keys.

/// Whether a prompt made from this subtree would contain no text.
bool hasNoPrompt(const Node& node);

/// Reads a query at the current place of the walk. `step` leads from the surrounding node to this place.
class NodeReader {
 public:
  virtual ~NodeReader() = default;
  virtual void readNode(Node& node, std::string step) = 0;
};

/// The data that the readers of one operator share: the walk, and the key of the operator.
struct ReadContext {
  QueryWalk& walk;
  NodeReader& nodes;
  const char* key = "";
};

void readChildren(const ReadContext& context, std::vector<Node>& children, const std::string& pointer);
void readTexts(const ReadContext& context, std::vector<std::string>& texts);
/// Reads a generate node that older documents write as a whole query, "query": {"g": {…}}.
void readOlderGenerate(const ReadContext& context, Generate& generate, const std::string& pointer);

template <class Fields>
class FieldsReader;

/// Reads one value into a member. The pointer of the value is relative to the node.
class ValueReader {
 public:
  ValueReader(const ReadContext& context, std::string pointer)
      : m_context(context), m_pointer(std::move(pointer)) {}

  void operator()(const FieldInfo& info, std::string& text) { readText(m_context.walk, text, info.expected); }
  void operator()(const FieldInfo& /*info*/, Setting<std::int32_t>& setting) {
    readMaxTokens(m_context.walk, setting);
  }
  void operator()(const FieldInfo& /*info*/, Setting<float>& setting) {
    readTemperature(m_context.walk, setting);
  }
  void operator()(const FieldInfo& /*info*/, Times& count) { readCount(m_context.walk, count); }
  void operator()(const FieldInfo& /*info*/, std::vector<std::string>& texts) { readTexts(m_context, texts); }
  void operator()(const FieldInfo& /*info*/, SourceDocument& document) {
    readDocument(m_context.walk, document);
  }
  void operator()(const FieldInfo& /*info*/, Box<Node>& child) {
    m_context.nodes.readNode(*child, m_pointer);
  }
  void operator()(const FieldInfo& /*info*/, std::vector<Node>& children) {
    readChildren(m_context, children, m_pointer);
  }
  template <GroupField Group>
  void operator()(const FieldInfo& /*info*/, Group& group) {
    FieldsReader<Group>(m_context, group, m_pointer).read();
  }

 private:
  const ReadContext& m_context;
  std::string m_pointer;
};

/// Reads the fields of an operator or of a group: an object of fields, or a list of them.
template <class Fields>
class FieldsReader {
 public:
  FieldsReader(const ReadContext& context, Fields& fields, std::string pointer)
      : m_context(context), m_fields(fields), m_pointer(std::move(pointer)) {}

  void read() {
    const std::size_t errorsBefore = m_context.walk.errors();
    list();
    if (m_older) {
      readWithOlder();
    } else {
      readFields(m_context.walk, listForm(), readers());
    }
    if constexpr (std::is_same_v<Fields, Generate>) {
      if (m_context.walk.errors() > errorsBefore || !hasNoPrompt(*m_fields.input)) return;
      m_context.walk.within("input", [&] {
        m_context.walk.warning(m_childOffset, "an input without text", "a prompt",
                               /*id:generates-without-prompt*/ "The model would generate without a prompt");
      });
    }
  }

 private:
  /// At least the largest number of fields of an operator.
  static constexpr std::size_t kMostFields = 8;

  static constexpr ListForm listForm() {
    if constexpr (requires { Fields::kInfo; }) {
      return Fields::kInfo.form == BodyForm::NamedFields ? ListForm::Refused : ListForm::Allowed;
    } else {
      return ListForm::Allowed;
    }
  }

  std::span<const FieldReader> readers() const { return std::span(m_readers).first(m_count); }

  /// Calls visit(info, member) for each field that has a key in the object.
  template <class Visit>
  struct KeyedFields {
    Visit& visit;

    template <class Member>
    void operator()(const FieldInfo& info, Member& member) {
      if constexpr (GroupField<Member>) {
        if (!info.hasKey()) return visitGroup(member, *this);
      }
      visit(info, member);
    }
  };
  template <class Visit>
  void forEachField(Visit visit) {
    Fields::fields(m_fields, KeyedFields<Visit>{visit});
  }

  void list() {
    forEachField([this](const FieldInfo& info, auto& /*member*/) {
      Need need = info.missing == nullptr ? Need::Optional : Need::Required;
      if (!info.olderKey.empty()) {
        need = Need::RequiredInList;
        m_older = m_count;
        m_olderKey = info.olderKey;
      }
      m_readers.at(m_count) = {info.key, need, info.missing, [this, i = m_count] { readField(i); }};
      ++m_count;
    });
  }

  void readField(std::size_t wanted) {
    std::size_t i = 0;
    forEachField([&](const FieldInfo& info, auto& member) {
      if (i++ != wanted) return;
      if constexpr (ChildField<std::remove_reference_t<decltype(member)>>) {
        m_context.walk.cursor().peek();
        m_childOffset = m_context.walk.cursor().offset();
      }
      ValueReader(m_context, m_pointer + "/" + info.key)(info, member);
    });
  }

  /// Reads the fields of an object in which older documents use another key for one field. The older key
  /// counts only if the object lacks the field's own key. The function therefore reads the older value after
  /// the whole object.
  void readWithOlder() {
    QueryWalk& walk = m_context.walk;
    ValueCursor& cursor = walk.cursor();
    std::optional<ValueCursor::Mark> older;
    std::size_t olderOffset = 0;
    std::optional<std::size_t> secondOffset;
    const OtherField readOther = [&](const std::string& key, std::size_t keyOffset) {
      if (key != m_olderKey) return false;
      cursor.peek();
      if (older) {
        secondOffset = keyOffset;
      } else {
        olderOffset = keyOffset;
        older = cursor.mark();
      }
      walk.within(key, [&] { cursor.skipValue(); });
      return true;
    };
    cursor.peek();
    const std::size_t begin = cursor.offset();
    const FieldsRead read = readFields(walk, listForm(), readers(), readOther);
    if (!read.isComplete) return;
    const FieldReader& field = m_readers[*m_older];
    const std::string name = std::string("\"") + field.name + "\"";
    const std::string olderName = "\"" + std::string(m_olderKey) + "\"";
    if (read.seen[*m_older] && older) {
      walk.warning(olderOffset, olderName + " beside " + name, "one field", "Spanscope ignores " + olderName);
    } else if (!read.seen[*m_older] && older) {
      if (secondOffset) walk.error(*secondOffset, "the field " + olderName + " twice", "this field once");
      const ValueCursor::Mark end = cursor.mark();
      cursor.goTo(*older);
      walk.within(std::string(m_olderKey), [&] { readOlder(); });
      if (!cursor.stopped()) cursor.goTo(end);
    } else if (!read.seen[*m_older]) {
      walk.error(begin, "no field " + name, name + ": " + field.meaning);
    }
  }

  void readOlder() {
    forEachField([&](const FieldInfo& info, auto& member) {
      if constexpr (IsOneOf<std::remove_reference_t<decltype(member)>, Generate>) {
        if (!info.olderKey.empty()) readOlderGenerate(m_context, member, m_pointer + "/" + info.key);
      }
    });
  }

  const ReadContext& m_context;
  Fields& m_fields;
  std::string m_pointer;
  std::array<FieldReader, kMostFields> m_readers;
  std::size_t m_count = 0;
  std::size_t m_childOffset = 0;  ///< the beginning of the last query that was read
  std::optional<std::size_t> m_older;
  std::string_view m_olderKey;
};

/// Reads the value of an operator.
template <class Operator>
void readOperatorValue(const ReadContext& context, Operator& op) {
  std::string pointer = std::string("/") + context.key;
  if constexpr (Operator::kInfo.form == BodyForm::Value) {
    ValueReader reader(context, std::move(pointer));
    Operator::fields(op, reader);
  } else {
    FieldsReader<Operator>(context, op, std::move(pointer)).read();
  }
}

/// Reads one query from a document of values. parseJson() and parseYaml() share this class. The class follows
/// the field lists of the operators. Use each object once.
class QueryReader : private NodeReader {
 public:
  /// `text` is well-formed UTF-8 within the limits. The offsets of the cursor refer to `text`.
  QueryReader(std::string_view text, const ParseLimits& limits, const QueryWalk::MakeCursor& makeCursor);

  ParseResult read();

 private:
  struct OperatorEntry;

  void readNode(Node& node, std::string step) override;
  void readOperator(const OperatorEntry& entry, Node& node);
  void readUnknownOperator(const std::string& key, std::size_t offset);

  QueryWalk::MakeCursor m_makeCursor;
  QueryWalk m_walk;
  ValueCursor& m_cursor;
  SourceMap m_sources;
};

}  // namespace spanscope::query
