// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/chat_reader.h"

#include "engine/query/number_text.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/shown_text.h"
#include "engine/query/visit_fields.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::query {
namespace {

/// Whether an object that begins with this key may be a request. An object that begins with an operator's key
/// is a query. But two operators have the names of fields of a request.
bool mayBeRequest(std::string_view first) {
  if (first == "system" || first == "user") return true;
  bool isOperator = false;
  forEachOperator([&]<class Operator>() {
    forEachKey<Operator>([&](const char* known, const auto& /*make*/) { isOperator |= first == known; });
  });
  return !isOperator;
}

/// Fields of a request or of a message that request more than a text. Without these fields the answer would
/// be different.
constexpr std::array<std::string_view, 8> kTools = {"tools",         "functions",   "tool_calls",
                                                    "function_call", "tool_choice", "response_format",
                                                    "modalities",    "audio"};

/// Fields with a value that means the same as their absence.
struct Neutral {
  std::string_view field;
  double value;
};
constexpr std::array kNeutral = {Neutral{"n", 1}, Neutral{"top_p", 1}, Neutral{"presence_penalty", 0},
                                 Neutral{"frequency_penalty", 0}};

template <class List>
bool isIn(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// Whether the next object has this member, with a value of this kind. Afterwards the cursor is somewhere
/// within the object, or after it.
bool hasMember(ValueCursor& cursor, std::string_view name, JsonKind kind) {
  cursor.enterObject();
  std::string key;
  for (ValueCursor::Container object; cursor.nextMember(object, key);) {
    if (key == name) return cursor.peek() == kind;
    cursor.skipValue();
  }
  return false;
}

/// Reads the members of messages and requests.
class ChatReader {
 public:
  ChatReader(QueryWalk& walk, SourceMap& sources)
      : m_walk(walk), m_cursor(walk.cursor()), m_sources(sources) {}

  void readRequest(Node& node) {
    const std::size_t begin = m_cursor.offset();
    if (!m_walk.countNode(begin)) return;
    const std::size_t entry = m_sources.open({}, begin);
    Generate generate;
    std::optional<Node> instructions;  // Anthropic's API has the instructions beside the messages
    const std::size_t before = hasInstructions() ? 1 : 0;
    Setting<std::int32_t> newerMaxTokens;
    std::size_t maxTokensOffset = 0;
    const std::array fields = {
        FieldReader{"model", Need::Required, /*id:name-model*/ "the name of a model",
                    [&] { readText(m_walk, generate.settings.model, "the name of a model"); }},
        FieldReader{"messages", Need::Required, "a list of messages",
                    [&] { readMessages(*generate.input, "/g/input", before); }},
        FieldReader{"system", Need::Optional, nullptr,
                    [&] {
                      if (before == 0)
                        m_cursor.skipValue();
                      else
                        readInstructions(instructions.emplace());
                    }},
        FieldReader{"max_tokens", Need::Optional, nullptr,
                    [&] {
                      m_cursor.peek();
                      maxTokensOffset = m_cursor.offset();
                      readMaxTokens(m_walk, generate.settings.maxTokens);
                    }},
        FieldReader{"max_completion_tokens", Need::Optional, nullptr,
                    [&] { readMaxTokens(m_walk, newerMaxTokens); }},
        FieldReader{"temperature", Need::Optional, nullptr,
                    [&] { readTemperature(m_walk, generate.settings.temperature); }},
    };
    readFields(m_walk, ListForm::Refused, fields,
               [&](const std::string& key, std::size_t offset) { return readOther(key, offset); });
    // In a request, null means the same as absence. In a query, null would mean no limit.
    forgetNull(generate.settings.maxTokens);
    forgetNull(generate.settings.temperature);
    forgetNull(newerMaxTokens);
    if (!std::holds_alternative<Absent>(newerMaxTokens)) {
      if (!std::holds_alternative<Absent>(generate.settings.maxTokens)) {
        m_walk.warning(maxTokensOffset, "max_tokens beside max_completion_tokens", "one field",
                       "Spanscope ignores max_tokens");
      }
      generate.settings.maxTokens = std::move(newerMaxTokens);
    }
    if (auto* join = std::get_if<Join>(&generate.input->value); join != nullptr && instructions)
      join->children.insert(join->children.begin(), std::move(*instructions));
    const bool isWarm = !std::holds_alternative<Absent>(generate.settings.temperature);
    m_walk.warning(begin, "a chat-completions request", "a query",
                   std::string(
                       /*id:read-generate-over*/ "Spanscope reads the request as a generate node with a seq "
                                                 "of messages") +
                       (isWarm ? "" : /*id:temperature-query-without*/
                            ", with the default temperature of 0.6"));
    node.value = std::move(generate);
    m_sources.close(entry, m_cursor.offset());
  }

  /// Reads a list of messages as a seq. The seq already has `before` children before these messages.
  void readMessages(Node& node, const std::string& step, std::size_t before = 0) {
    if (m_cursor.peek() != JsonKind::Array) {
      m_walk.refuseValue("a list of messages");
      return;
    }
    const std::size_t begin = m_cursor.offset();
    if (!m_walk.countNode(begin)) return;
    const std::size_t entry = m_sources.open(step, begin);
    Join join{JoinKind::Seq, {}};
    m_cursor.enterArray();
    for (ValueCursor::Container array; m_cursor.nextElement(array);) {
      const std::string index = std::to_string(join.children.size());
      join.children.emplace_back();
      m_walk.within(index, [&] {
        readMessage(join.children.back(), "/seq/" + std::to_string(before + join.children.size() - 1));
      });
    }
    if (!m_cursor.stopped() && join.children.empty() && before == 0) {
      m_walk.warning(begin, "no messages", "at least one message", "the prompt is empty");
    }
    node.value = std::move(join);
    m_sources.close(entry, m_cursor.offset());
  }

 private:
  template <class T>
  static void forgetNull(Setting<T>& setting) {
    if (std::holds_alternative<Null>(setting)) setting = Absent{};
  }

  /// Whether the request has a system prompt beside its messages. The cursor stays before the request.
  bool hasInstructions() {
    const ValueCursor::Mark mark = m_cursor.mark();
    std::optional<JsonKind> kind;
    m_cursor.enterObject();
    std::string key;
    for (ValueCursor::Container object; !kind && m_cursor.nextMember(object, key);) {
      if (key == "system")
        kind = m_cursor.peek();
      else
        m_cursor.skipValue();
    }
    if (m_cursor.stopped()) return false;
    m_cursor.goTo(mark);
    return kind == JsonKind::String || kind == JsonKind::Array;
  }

  void readInstructions(Node& node) {
    m_cursor.peek();
    const std::size_t begin = m_cursor.offset();
    if (!m_walk.countNode(begin)) return;
    const std::size_t entry = m_sources.open("/g/input/seq/0", begin);
    Message message;
    message.role = Role::System;
    readContent(message.text);
    node.value = std::move(message);
    m_sources.close(entry, m_cursor.offset());
  }

  void readMessage(Node& node, std::string step) {
    m_cursor.peek();
    const std::size_t begin = m_cursor.offset();
    if (!m_walk.countNode(begin)) return;
    const std::size_t entry = m_sources.open(std::move(step), begin);
    Message message;
    const std::array fields = {
        FieldReader{"role", Need::Required,
                    /*id:system-developer-user*/ "system, developer, user or assistant",
                    [&] { readRole(message.role); }},
        FieldReader{"content", Need::Required, /*id:text-message*/ "the text of the message",
                    [&] { readContent(message.text); }},
    };
    readFields(m_walk, ListForm::Refused, fields,
               [&](const std::string& key, std::size_t offset) { return readOther(key, offset); });
    node.value = std::move(message);
    m_sources.close(entry, m_cursor.offset());
  }

  void readRole(Role& role) {
    constexpr const char* kRoles = "system, developer, user or assistant";
    if (m_cursor.peek() != JsonKind::String) {
      m_walk.refuseValue(kRoles);
      return;
    }
    const std::size_t begin = m_cursor.offset();
    const std::string name = m_cursor.readString();
    if (name == "system" || name == "developer") {
      role = Role::System;
      if (name == "developer") {
        m_walk.warning(begin, "the role \"developer\"",
                       /*id:system-user-assistant*/ "system, user or assistant",
                       /*id:read-system*/ "Spanscope reads this role as system");
      }
    } else if (name == "user" || name == "assistant") {
      role = name == "user" ? Role::User : Role::Assistant;
    } else {
      const bool isTool = name == "tool" || name == "function";
      m_walk.error(begin, "the role " + inQuotes(name), kRoles,
                   isTool ? /*id:tool-answered-no*/ "A query cannot contain the answer of a tool" : "");
    }
  }

  void readContent(std::string& text) {
    constexpr const char* kContent = /*id:text-list-parts*/ "text, or a list of parts of the type text";
    const JsonKind kind = m_cursor.peek();
    if (kind != JsonKind::Array) {
      readText(m_walk, text, kContent);
      return;
    }
    const std::size_t begin = m_cursor.offset();
    std::size_t count = 0;
    m_cursor.enterArray();
    for (ValueCursor::Container array; m_cursor.nextElement(array); ++count) {
      m_walk.within(std::to_string(count), [&] {
        if (count > 0) text += '\n';
        text += readPart();
      });
    }
    if (!m_cursor.stopped() && count > 1) {
      m_walk.warning(begin, std::to_string(count) + " parts of text", "one text",
                     /*id:joined-line-breaks*/ "Spanscope joins the parts with line breaks");
    }
  }

  std::string readPart() {
    std::string text;
    if (m_cursor.peek() == JsonKind::String) return m_cursor.readString();
    const std::size_t begin = m_cursor.offset();
    std::optional<std::string> type;
    bool hasText = false;
    const std::array fields = {
        FieldReader{"type", Need::Required, "text",
                    [&] { readText(m_walk, type.emplace(), "the type text"); }},
        FieldReader{"text", Need::Optional, nullptr,
                    [&] {
                      hasText = true;
                      readText(m_walk, text, "text");
                    }},
    };
    const std::size_t errorsBefore = m_walk.errors();
    std::vector<std::pair<std::string, std::size_t>> others;
    readFields(m_walk, ListForm::Refused, fields, [&](const std::string& key, std::size_t offset) {
      m_walk.within(key, [&] {
        if (!isNothing(key)) others.emplace_back(key, offset);
      });
      return true;
    });
    if (m_walk.errors() > errorsBefore || m_cursor.stopped()) return text;
    if (type != "text") {
      // The other fields of this part are refused together with the part.
      m_walk.error(begin, /*id:part-type*/ "a part of the type " + inQuotes(*type), "the type text",
                   /*id:query-holds-text*/ "A query contains only text");
      return text;
    }
    if (!hasText) m_walk.error(begin, "no field \"text\"", "\"text\": the text of the part");
    for (const auto& other : others) m_walk.within(other.first, [&] { leaveOut(other.first, other.second); });
    return text;
  }

  /// Skips a field that a query cannot contain, and reports it.
  bool readOther(const std::string& key, std::size_t keyOffset) {
    m_walk.within(key, [&] {
      if (isNothing(key)) return;
      if (isIn(kTools, key)) {
        m_walk.error(
            keyOffset, "the field " + inQuotes(key), "messages of text",
            /*id:tools-other-forms*/ "A query cannot contain tools, sound or other forms of an answer");
      } else {
        leaveOut(key, keyOffset);
      }
    });
    return true;
  }

  void leaveOut(const std::string& key, std::size_t offset) {
    m_walk.warning(offset, "the field " + inQuotes(key),
                   /*id:query-can-say*/ "a field that a query can express",
                   /*id:left-out*/ "Spanscope leaves out this field");
  }

  /// Whether the value requests an answer of text, like every query. If yes, skips the value.
  bool isTextAlone(std::string_view key) {
    const ValueCursor::Mark mark = m_cursor.mark();
    const JsonKind kind = m_cursor.peek();
    std::vector<std::string> texts;
    bool hasOthers = false;
    const auto take = [&] {
      const bool isText = m_cursor.peek() == JsonKind::String;
      if (isText)
        texts.push_back(m_cursor.readString());
      else
        m_cursor.skipValue();
      hasOthers = hasOthers || !isText;
    };
    std::string member;
    if (key == "response_format" && kind == JsonKind::Object) {
      m_cursor.enterObject();
      for (ValueCursor::Container object; m_cursor.nextMember(object, member);) {
        hasOthers = hasOthers || member != "type";
        take();
      }
    } else if (key == "modalities" && kind == JsonKind::Array) {
      m_cursor.enterArray();
      for (ValueCursor::Container array; m_cursor.nextElement(array);) take();
    } else if (key == "tool_choice" && kind == JsonKind::String) {
      // Without tools, the choice has no effect. With tools, the reader refuses the tools.
      take();
      const bool isFree = texts.front() == "none" || texts.front() == "auto";
      if (isFree) texts.front() = "text";
    } else {
      return false;
    }
    if (m_cursor.stopped() || (!hasOthers && texts == std::vector<std::string>{"text"})) return true;
    m_cursor.goTo(mark);
    return false;
  }

  /// Skips a value. Returns true if the value has no effect: null, false, an empty list, or the default.
  bool isNothing(std::string_view key) {
    if (isTextAlone(key)) return true;
    const JsonKind kind = m_cursor.peekNumber();
    if (kind == JsonKind::Number) {
      const double value = static_cast<double>(floatValue(m_cursor.readNumber()));
      return std::ranges::any_of(
          kNeutral, [&](const Neutral& neutral) { return neutral.field == key && neutral.value == value; });
    }
    if (kind == JsonKind::Array) {
      bool isEmpty = true;
      m_cursor.enterArray();
      for (ValueCursor::Container array; m_cursor.nextElement(array); isEmpty = false) m_cursor.skipValue();
      return isEmpty;
    }
    m_cursor.skipValue();
    return kind == JsonKind::Null || kind == JsonKind::False;
  }

  QueryWalk& m_walk;
  ValueCursor& m_cursor;
  SourceMap& m_sources;
};

}  // namespace

ChatForm chatFormOf(ValueCursor& cursor, const QueryWalk::MakeCursor& makeCursor) {
  const JsonKind kind = cursor.peek();
  const ValueCursor::Mark mark = cursor.mark();
  ChatForm form = ChatForm::None;
  if (kind == JsonKind::Array) {
    cursor.enterArray();
    ValueCursor::Container array;
    const bool isMessage = cursor.nextElement(array) && cursor.peek() == JsonKind::Object &&
                           hasMember(cursor, "role", JsonKind::String);
    if (isMessage) form = ChatForm::Messages;
  } else if (kind == JsonKind::Object) {
    cursor.enterObject();
    ValueCursor::Container object;
    std::string first;
    if (cursor.nextMember(object, first) && mayBeRequest(first)) {
      // Syntax errors that this cursor finds would have no place in a query.
      NoIssues listener;
      const std::unique_ptr<ValueCursor> other = makeCursor(listener);
      if (other->peek() == JsonKind::Object && hasMember(*other, "messages", JsonKind::Array))
        form = ChatForm::Request;
    }
  }
  if (!cursor.stopped()) cursor.goTo(mark);
  return cursor.stopped() ? ChatForm::None : form;
}

void readChat(QueryWalk& walk, ChatForm form, SourceMap& sources, Node& node) {
  ChatReader reader(walk, sources);
  if (form == ChatForm::Request) {
    reader.readRequest(node);
    return;
  }
  const std::size_t begin = walk.cursor().offset();
  reader.readMessages(node, {});
  walk.warning(begin, /*id:list-chat-messages*/ "a list of chat messages", "a query",
               /*id:read-seq*/ "Spanscope reads the list as a seq of messages");
}

}  // namespace spanscope::query
