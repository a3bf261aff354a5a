// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/chat_writer.h"

#include "engine/base/utf8.h"
#include "engine/query/json/json.h"
#include "engine/query/json/json_cursor.h"
#include "engine/query/number_text.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::query {
namespace {

/// A member of an object, or an element of a list. The chat was read before and thus has no issues.
struct Member {
  std::string key;  ///< empty for an element
  SourceRange whole;
  SourceRange value;
  JsonKind kind = JsonKind::Invalid;
};

/// An object or a list in the chat.
struct Level {
  SourceRange range;  ///< of the level, with its brackets
  std::vector<Member> members;

  const Member* find(std::string_view key) const {
    const auto found = std::ranges::find(members, key, &Member::key);
    return found == members.end() ? nullptr : &*found;
  }
};

/// The text of a member or an element in the new chat.
struct Part {
  std::string text;
  std::optional<std::size_t> origin;  ///< index of the part in the level; nothing for a new part
};

std::string_view textIn(std::string_view text, SourceRange range) {
  return text.substr(range.begin, range.end - range.begin);
}

Level levelAt(std::string_view text, SourceRange range) {
  NoIssues listener;
  JsonCursor cursor(textIn(text, range), kMaxDepth, listener);
  const bool isObject = cursor.peek() == JsonKind::Object;
  Level level;
  level.range.begin = range.begin + cursor.offset();
  if (isObject)
    cursor.enterObject();
  else
    cursor.enterArray();
  Member member;
  for (ValueCursor::Container container;
       isObject ? cursor.nextMember(container, member.key) : cursor.nextElement(container);) {
    member.kind = cursor.peek();
    member.value.begin = range.begin + cursor.offset();
    cursor.skipValue();
    member.value.end = range.begin + cursor.offset();
    member.whole = {isObject ? range.begin + container.keyOffset : member.value.begin, member.value.end};
    level.members.push_back(member);
  }
  level.range.end = range.begin + cursor.offset();
  return level;
}

std::string readTextAt(std::string_view text, SourceRange range) {
  NoIssues listener;
  return JsonCursor(textIn(text, range), 1, listener).readString();
}

/// Returns the text of the level with other parts. The separators stay the same.
std::string compose(std::string_view text, const Level& level, const std::vector<Part>& parts) {
  const std::vector<Member>& before = level.members;
  std::string out(1, text[level.range.begin]);
  const auto between = [&](std::size_t first) {
    return text.substr(before[first].whole.end, before[first + 1].whole.begin - before[first].whole.end);
  };
  const std::string_view head =
      before.empty() ? std::string_view() : textIn(text, {level.range.begin + 1, before.front().whole.begin});
  std::string separator = ", ";
  if (before.size() > 1)
    separator = between(0);
  else if (!head.empty())
    separator = "," + std::string(head);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool areNeighbours = i > 0 && parts[i - 1].origin && parts[i].origin == *parts[i - 1].origin + 1;
    if (i == 0)
      out += head;
    else
      out += areNeighbours ? between(*parts[i - 1].origin) : std::string_view(separator);
    out += parts[i].text;
  }
  if (!parts.empty() && !before.empty()) out += textIn(text, {before.back().whole.end, level.range.end - 1});
  return out + text[level.range.end - 1];
}

/// Returns the text of a member with another value.
std::string withValue(std::string_view text, const Member& member, const std::string& value) {
  return std::string(textIn(text, {member.whole.begin, member.value.begin})) + value;
}

Diagnostic lostAt(std::size_t offset, std::string found) {
  return {Severity::Warning, {}, {}, offset, std::move(found), {}, {}};
}

using MessageOf = std::pair<Role, std::string>;

MessageOf messageOf(const Node& node) {
  const auto& message = std::get<Message>(node.value);
  return {message.role, message.text};
}

/// Writes a chat with other messages.
class ChatWriter {
 public:
  ChatWriter(std::string_view text, ChatForm form, const Node& before)
      : m_text(text), m_isRequest(form == ChatForm::Request), m_before(before) {
    m_top = levelAt(text, {0, text.size()});
    const SourceRange list = m_isRequest ? m_top.find("messages")->value : m_top.range;
    m_list = m_isRequest ? levelAt(text, list) : m_top;
    const Member* system = m_isRequest ? m_top.find("system") : nullptr;
    if (system != nullptr && (system->kind == JsonKind::String || system->kind == JsonKind::Array))
      m_system = system;
    for (const Node& message : *chatMessages(before, form)) m_old.push_back(messageOf(message));
  }

  std::optional<RewrittenChat> write(const Node& query, const std::vector<Node>& messages,
                                     std::vector<std::optional<std::size_t>> origins) {
    origins.resize(messages.size());
    for (std::optional<std::size_t>& origin : origins) {
      if (origin && *origin >= m_old.size()) origin.reset();
    }
    findEqual(messages, origins);
    std::size_t first = 0;
    std::optional<std::string> system;
    if (m_system != nullptr && !messages.empty()) {
      const auto [role, words] = messageOf(messages.front());
      if (role == Role::System && origins.front().value_or(0) == 0) {
        system = contentValue(m_system->kind, m_system->value, m_old.front().second, words);
        first = 1;
      }
    }
    std::vector<Part> parts;
    for (std::size_t i = first; i < messages.size(); ++i) {
      if (!mayBeInList(messages[i], origins[i])) return std::nullopt;
      parts.push_back(messagePart(messages[i], origins[i]));
    }
    noteUnused(messages, origins, first);
    const std::string list = compose(m_text, m_list, parts);
    RewrittenChat result;
    result.text = m_text.substr(0, m_top.range.begin);
    result.text += m_isRequest ? request(query, list, system) : list;
    result.text += m_text.substr(m_top.range.end);
    std::ranges::stable_sort(m_lost, {}, &Diagnostic::offset);
    locate(m_lost, m_text);
    result.lost = std::move(m_lost);
    return result;
  }

 private:
  /// Messages beside the list: the system prompt of Anthropic's API.
  std::size_t outside() const { return m_system == nullptr ? 0 : 1; }

  /// Gives each message without an origin the origin of an equal message.
  void findEqual(const std::vector<Node>& messages, std::vector<std::optional<std::size_t>>& origins) const {
    std::vector<bool> isUsed(m_old.size(), false);
    for (const std::optional<std::size_t>& origin : origins) {
      if (origin) isUsed[*origin] = true;
    }
    std::multimap<MessageOf, std::size_t> free;
    for (std::size_t i = 0; i < m_old.size(); ++i) {
      if (!isUsed[i]) free.emplace(m_old[i], i);
    }
    for (std::size_t i = 0; i < messages.size() && !free.empty(); ++i) {
      if (origins[i]) continue;
      const auto equal = free.lower_bound(messageOf(messages[i]));
      if (equal == free.end() || equal->first != messageOf(messages[i])) continue;
      origins[i] = equal->second;
      free.erase(equal);
    }
  }

  /// Anthropic's API accepts a system prompt only beside the messages.
  bool mayBeInList(const Node& message, std::optional<std::size_t> origin) const {
    if (m_system == nullptr || messageOf(message).first != Role::System) return true;
    return origin && *origin >= outside() && m_old[*origin].first == Role::System;
  }

  Part messagePart(const Node& message, std::optional<std::size_t> origin) {
    const auto [role, words] = messageOf(message);
    if (!origin || *origin < outside()) {
      if (origin) noteParts(m_system->kind, m_system->value);
      return {newMessage(role, words), std::nullopt};
    }
    const std::size_t place = *origin - outside();
    const Member& element = m_list.members[place];
    const Level fields = levelAt(m_text, element.value);
    std::vector<Part> parts;
    for (std::size_t i = 0; i < fields.members.size(); ++i) {
      const Member& field = fields.members[i];
      std::string part(textIn(m_text, field.whole));
      if (field.key == "role" && role != m_old[*origin].first)
        part = withValue(m_text, field, jsonText(roleName(role)));
      if (field.key == "content")
        part = withValue(m_text, field, contentValue(field.kind, field.value, m_old[*origin].second, words));
      parts.push_back({std::move(part), i});
    }
    return {compose(m_text, fields, parts), place};
  }

  /// Returns a content with another text.
  std::string contentValue(JsonKind kind, SourceRange range, const std::string& before,
                           const std::string& words) {
    if (words == before) return std::string(textIn(m_text, range));
    if (kind != JsonKind::Array) return jsonText(words);
    const Level list = levelAt(m_text, range);
    const std::size_t count = list.members.size();
    // The text of a part follows the texts of the earlier parts and a line break.
    const std::size_t equalBegin = commonLength(before.begin(), before.end(), words.begin(), words.end());
    const std::size_t equalEnd = commonLength(before.rbegin(), before.rend(), words.rbegin(), words.rend());
    std::size_t begin = 0;
    for (std::size_t i = 0; i < count && begin <= equalBegin; ++i) {
      const Member& part = list.members[i];
      const SourceRange text = textOfPart(part);
      const std::size_t length = readTextAt(m_text, text).size();
      const std::size_t rest = before.size() - begin - length;
      if (rest <= equalEnd && begin + rest <= words.size()) {
        const std::string value = std::string(textIn(m_text, {part.whole.begin, text.begin})) +
                                  jsonText(words.substr(begin, words.size() - begin - rest)) +
                                  std::string(textIn(m_text, {text.end, part.whole.end}));
        std::vector<Part> parts;
        for (std::size_t k = 0; k < count; ++k)
          parts.push_back({k == i ? value : std::string(textIn(m_text, list.members[k].whole)), k});
        return compose(m_text, list, parts);
      }
      begin += length + 1;
    }
    noteParts(kind, range);
    return jsonText(words);
  }

  template <class Iterator, class Other>
  static std::size_t commonLength(Iterator begin, Iterator end, Other otherBegin, Other otherEnd) {
    return static_cast<std::size_t>(std::mismatch(begin, end, otherBegin, otherEnd).first - begin);
  }

  /// Returns the range of the text in a part of a content.
  SourceRange textOfPart(const Member& part) const {
    if (part.kind == JsonKind::String) return part.value;
    const Level fields = levelAt(m_text, part.value);
    return fields.find("text")->value;
  }

  /// Writes a message like another message of the chat that has only a role and a text.
  std::string newMessage(Role role, const std::string& words) {
    if (!m_isPlainKnown) {
      m_isPlainKnown = true;
      for (const Member& element : m_list.members) {
        Level fields = levelAt(m_text, element.value);
        const Member* content = fields.find("content");
        if (fields.members.size() != 2 || content == nullptr || content->kind != JsonKind::String) continue;
        m_plain = std::move(fields);
        break;
      }
    }
    if (!m_plain)
      return R"({"role": )" + jsonText(roleName(role)) + R"(, "content": )" + jsonText(words) + "}";
    std::vector<Part> parts;
    for (std::size_t i = 0; i < m_plain->members.size(); ++i) {
      const Member& field = m_plain->members[i];
      const bool isRole = field.key == "role";
      parts.push_back({withValue(m_text, field, jsonText(isRole ? roleName(role) : words)), i});
    }
    return compose(m_text, *m_plain, parts);
  }

  /// The fields of a removed message are lost. But a new message in its place may be the same message.
  void noteUnused(const std::vector<Node>& messages, const std::vector<std::optional<std::size_t>>& origins,
                  std::size_t first) {
    std::vector<bool> isUsed(m_old.size(), false);
    std::map<Role, bool> isNew;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (origins[i])
        isUsed[*origins[i]] = true;
      else if (i >= first)
        isNew[messageOf(messages[i]).first] = true;
    }
    for (std::size_t i = outside(); i < m_old.size(); ++i) {
      if (isUsed[i] || !isNew[m_old[i].first]) continue;
      for (const Member& field : levelAt(m_text, m_list.members[i - outside()].value).members) {
        if (field.key == "content")
          noteParts(field.kind, field.value);
        else if (field.key != "role" && field.kind != JsonKind::Null)
          m_lost.push_back(lostAt(field.whole.begin, "the field " + inQuotes(field.key)));
      }
    }
  }

  /// Notes the fields that are lost when the parts of a content become one text.
  void noteParts(JsonKind kind, SourceRange range) {
    if (kind != JsonKind::Array) return;
    const Level list = levelAt(m_text, range);
    if (list.members.size() > 1)
      m_lost.push_back(
          lostAt(range.begin, "the division into " + std::to_string(list.members.size()) + " parts"));
    for (const Member& part : list.members) {
      if (part.kind != JsonKind::Object) continue;
      for (const Member& field : levelAt(m_text, part.value).members) {
        if (field.key != "type" && field.key != "text" && field.kind != JsonKind::Null)
          m_lost.push_back(lostAt(field.whole.begin, "the field " + inQuotes(field.key)));
      }
    }
  }

  std::string request(const Node& query, const std::string& list, const std::optional<std::string>& system) {
    const GenerateSettings& now = std::get<Generate>(query.value).settings;
    const GenerateSettings& old = std::get<Generate>(m_before.value).settings;
    // The reader took the limit from one of two fields.
    const Member* newer = m_top.find("max_completion_tokens");
    const bool isNewer = newer != nullptr && newer->kind != JsonKind::Null;
    const char* limit = isNewer ? "max_completion_tokens" : "max_tokens";
    const bool isOtherLimit = now.maxTokens != old.maxTokens;
    const bool isOtherTemperature = now.temperature != old.temperature;
    std::vector<Part> parts;
    const auto keep = [&](std::size_t i, std::string text) { parts.push_back({std::move(text), i}); };
    for (std::size_t i = 0; i < m_top.members.size(); ++i) {
      const Member& field = m_top.members[i];
      const bool isLimit = field.key == "max_tokens" || field.key == "max_completion_tokens";
      if (field.key == "messages") {
        keep(i, withValue(m_text, field, list));
      } else if (field.key == "model" && now.model != old.model) {
        keep(i, withValue(m_text, field, jsonText(now.model)));
      } else if (&field == m_system) {
        if (system) keep(i, withValue(m_text, field, *system));
      } else if (isOtherLimit && isLimit && isAbsent(now.maxTokens)) {
        continue;
      } else if (isOtherLimit && field.key == limit) {
        keep(i, withValue(m_text, field, valueOf(now.maxTokens)));
      } else if (isOtherTemperature && field.key == "temperature") {
        if (!isAbsent(now.temperature)) keep(i, withValue(m_text, field, valueOf(now.temperature)));
      } else {
        keep(i, std::string(textIn(m_text, field.whole)));
      }
    }
    if (isOtherLimit && !isAbsent(now.maxTokens) && m_top.find(limit) == nullptr)
      parts.push_back({newField(limit, valueOf(now.maxTokens)), std::nullopt});
    if (isOtherTemperature && !isAbsent(now.temperature) && m_top.find("temperature") == nullptr)
      parts.push_back({newField("temperature", valueOf(now.temperature)), std::nullopt});
    return compose(m_text, m_top, parts);
  }

  template <class T>
  static bool isAbsent(const Setting<T>& setting) {
    return std::holds_alternative<Absent>(setting);
  }

  template <class T>
  static std::string valueOf(const Setting<T>& setting) {
    if (const auto* parameter = std::get_if<Parameter>(&setting))
      return jsonText("{" + parameter->name + "}");
    if (const auto* number = std::get_if<T>(&setting)) {
      if constexpr (std::is_same_v<T, float>)
        return floatText(*number);
      else
        return std::to_string(*number);
    }
    return "null";
  }

  std::string newField(const std::string& key, const std::string& value) const {
    const Member& first = m_top.members.front();
    const std::string_view head = textIn(m_text, {first.whole.begin, first.value.begin});
    return jsonText(key) + std::string(head.substr(head.rfind('"') + 1)) + value;
  }

  std::string_view m_text;
  bool m_isRequest;
  const Node& m_before;
  Level m_top;
  Level m_list;                      ///< the messages
  const Member* m_system = nullptr;  ///< within m_top: the system prompt beside the messages
  std::vector<MessageOf> m_old;      ///< messages in reading order: the system prompt, then the list
  bool m_isPlainKnown = false;
  std::optional<Level> m_plain;  ///< a message with a role and a text alone
  std::vector<Diagnostic> m_lost;
};

}  // namespace

ChatForm chatFormOf(std::string_view json) {
  if (findInvalidUtf8(json) < json.size()) return ChatForm::None;
  const auto makeCursor = [json](ValueCursor::Listener& listener) {
    return std::make_unique<JsonCursor>(json, kMaxDepth, listener);
  };
  NoIssues listener;
  return chatFormOf(*makeCursor(listener), makeCursor);
}

const std::vector<Node>* chatMessages(const Node& query, ChatForm form) {
  const Node* list = &query;
  if (form == ChatForm::Request) {
    const auto* generate = query.as<Generate>();
    if (generate == nullptr) return nullptr;
    list = &*generate->input;
  }
  const auto* join = form == ChatForm::None ? nullptr : list->as<Join>();
  if (join == nullptr || join->kind != JoinKind::Seq) return nullptr;
  const bool areMessages =
      std::ranges::all_of(join->children, [](const Node& child) { return child.as<Message>() != nullptr; });
  return areMessages ? &join->children : nullptr;
}

std::optional<RewrittenChat> rewriteChat(std::string_view chat, const Node& query,
                                         const std::vector<std::optional<std::size_t>>& origins) {
  const ChatForm form = chatFormOf(chat);
  const std::vector<Node>* messages = chatMessages(query, form);
  if (messages == nullptr) return std::nullopt;
  const ParseResult before = parseJson(chat);
  if (!before.query) return std::nullopt;
  ChatWriter writer(chat, form, *before.query);
  std::optional<RewrittenChat> written = writer.write(query, *messages, origins);
  if (!written) return std::nullopt;
  if (parseJson(written->text).query != query) return std::nullopt;
  return written;
}

}  // namespace spanscope::query
