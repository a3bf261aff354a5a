// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/gateway/passed_call.h"

#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/remote/server/answer.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace spanscope::gateway {

namespace {

using CallJson = nlohmann::ordered_json;
using exports::ChatMessage;
using exports::PlusGroup;
using server::refuseField;

constexpr const char* kMark = "spanscope";
constexpr const char* kPlus = "spanscope.plus";

const CallJson* fieldIn(const CallJson& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Whether JSON is nested so deeply that writing the JSON could exhaust the stack.
bool isTooDeep(std::string_view text) {
  constexpr std::size_t kMostDepth = 128;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (letter == '{' || letter == '[') {
      if (++depth > kMostDepth) return true;
    } else if ((letter == '}' || letter == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

/// Returns the text of a message's content, and whether other content is beside the text.
std::pair<std::string, bool> textOfContent(const CallJson* content) {
  if (content == nullptr) return {{}, false};
  if (content->is_string()) return {content->get<std::string>(), false};
  std::string text;
  bool hasOther = !content->is_array();
  if (content->is_array()) {
    for (const CallJson& part : *content) {
      const CallJson* const own = fieldIn(part, "text");
      if (own != nullptr && own->is_string())
        text += own->get<std::string>();
      else
        hasOther = true;
    }
  }
  return {std::move(text), hasOther};
}

std::optional<query::Role> roleIn(const CallJson& message) {
  const CallJson* const role = fieldIn(message, "role");
  const std::string name = role != nullptr && role->is_string() ? role->get<std::string>() : std::string();
  if (name == "system" || name == "developer") return query::Role::System;
  if (name == "user") return query::Role::User;
  if (name == "assistant") return query::Role::Assistant;
  return std::nullopt;
}

void readMessages(const CallJson& body, PassedCall& call) {
  const CallJson* const messages = fieldIn(body, "messages");
  if (messages == nullptr || !messages->is_array() || messages->empty()) {
    call.problem = "The body has no list of messages.";
    return;
  }
  for (const CallJson& message : *messages) {
    auto [text, hasOther] = textOfContent(fieldIn(message, "content"));
    const std::optional<query::Role> role = roleIn(message);
    if (hasOther)
      call.unknownPrompt = "a message has content other than text";
    else if (!role)
      call.unknownPrompt = "a message has a role other than system, user or assistant";
    else if (fieldIn(message, "tool_calls") != nullptr)
      call.unknownPrompt = "a message has tool calls";
    call.request.messages.push_back(
        {role.value_or(query::Role::User), toValidUtf8(std::move(text)), std::nullopt, {}});
  }
  if (const CallJson* const tools = fieldIn(body, "tools"); tools != nullptr && !tools->empty())
    call.unknownPrompt = "the request has tools";
}

void readPrompt(const CallJson& body, PassedCall& call) {
  const CallJson* prompt = fieldIn(body, "prompt");
  if (prompt != nullptr && prompt->is_array() && prompt->size() == 1 && prompt->front().is_string())
    prompt = &prompt->front();
  if (prompt == nullptr || !prompt->is_string()) {
    call.problem = "The body has no 'prompt' that is one text.";
    return;
  }
  call.request.messages.push_back(
      {query::Role::User, toValidUtf8(prompt->get<std::string>()), std::nullopt, {}});
}

/// Reads the index of a message.
std::size_t messageIn(const CallJson& value, std::size_t messages) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= messages)
    refuseField(kPlus, "A child of a group in 'spanscope.plus' must be the index of a message, from 0 to " +
                           std::to_string(messages - 1) + ", or a list of indices.");
  return static_cast<std::size_t>(value.get<std::uint64_t>());
}

PlusGroup groupIn(const CallJson& list, const PassedCall& call) {
  if (!list.is_array() || list.size() < 2)
    refuseField(kPlus, "A group in 'spanscope.plus' must be a list of at least two children.");
  const std::size_t messages = call.request.messages.size();
  std::vector<std::size_t> order;
  PlusGroup group;
  for (const CallJson& child : list) {
    if (!child.is_array()) {
      order.push_back(messageIn(child, messages));
      group.bounds.push_back(order.back());
      continue;
    }
    if (child.empty()) refuseField(kPlus, "A child of a group in 'spanscope.plus' has no message.");
    group.bounds.push_back(messageIn(child.front(), messages));
    for (const CallJson& message : child) order.push_back(messageIn(message, messages));
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != order.front() + i)
      refuseField(kPlus, "The messages of a group in 'spanscope.plus' must be consecutive.");
    if (call.request.messages[order[i]].role == query::Role::System)
      refuseField(kPlus, "A group in 'spanscope.plus' must not have a system message.");
  }
  group.bounds.push_back(order.back() + 1);
  return group;
}

bool isInsideChild(const PlusGroup& inner, const PlusGroup& outer) {
  for (std::size_t child = 0; child + 1 < outer.bounds.size(); ++child) {
    if (inner.bounds.front() >= outer.bounds[child] && inner.bounds.back() <= outer.bounds[child + 1])
      return true;
  }
  return false;
}

void readMark(const CallJson& mark, PassedCall& call) {
  call.isMarked = true;
  const CallJson* const groups = fieldIn(mark, "plus");
  if (!mark.is_object() || groups == nullptr || !groups->is_array())
    refuseField(kMark, "'spanscope' must be an object with a list of groups, {\"plus\": [[1, 2]]}.");
  if (!call.problem.empty()) refuseField("messages", call.problem);
  std::vector<PlusGroup>& read = call.request.groups;
  for (const CallJson& group : *groups) read.push_back(groupIn(group, call));
  // An outer plus comes before an inner plus.
  std::ranges::sort(read, [](const PlusGroup& left, const PlusGroup& right) {
    return left.bounds.front() != right.bounds.front() ? left.bounds.front() < right.bounds.front()
                                                       : left.bounds.back() > right.bounds.back();
  });
  for (std::size_t i = 1; i < read.size(); ++i) {
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const bool isApart = read[i].bounds.front() >= read[earlier].bounds.back();
      if (!isApart && !isInsideChild(read[i], read[earlier]))
        refuseField(kPlus, "Two groups in 'spanscope.plus' overlap.");
    }
  }
}

void readSettings(const CallJson& body, PassedCall& call) {
  constexpr std::int32_t kMostChoices = 16;
  if (const CallJson* const model = fieldIn(body, "model"); model != nullptr && model->is_string())
    call.request.model = toValidUtf8(model->get<std::string>());
  for (const char* const name : {"max_completion_tokens", "max_tokens"}) {
    const CallJson* const tokens = fieldIn(body, name);
    if (tokens == nullptr || !tokens->is_number_integer() || call.request.maxTokens) continue;
    const std::int64_t most = tokens->get<std::int64_t>();
    if (most > 0 && most < 1'000'000'000) call.request.maxTokens = static_cast<std::int32_t>(most);
  }
  const CallJson* const temperature = fieldIn(body, "temperature");
  call.request.temperature =
      temperature != nullptr && temperature->is_number() ? temperature->get<float>() : 1.0F;
  const CallJson* const stream = fieldIn(body, "stream");
  call.isStream = stream != nullptr && stream->is_boolean() && stream->get<bool>();
  const CallJson* const choices = fieldIn(body, "n");
  if (choices != nullptr && choices->is_number_integer())
    call.choices =
        std::clamp(static_cast<std::int32_t>(choices->get<std::int64_t>() & 0xFFFF), 1, kMostChoices);
}

/// Makes the tree of a query from the messages of a call, and gives each message its node.
class TreeMaker {
 public:
  explicit TreeMaker(PassedCall& call) : m_call(call) {}

  query::Node make() {
    const std::string input = "/g/input";
    if (m_call.request.messages.size() == 1) {
      m_call.request.messages.front().node = input;
      return messageNode(0);
    }
    return query::Node{joinOf(query::JoinKind::Cross, input, 0, m_call.request.messages.size())};
  }

 private:
  query::Node messageNode(std::size_t index) const {
    const ChatMessage& message = m_call.request.messages[index];
    return query::Node{query::Message{message.role, message.content}};
  }

  /// A cross of messages and groups. `path` is the node of the join.
  query::Join joinOf(query::JoinKind kind, const NodePath& path, std::size_t begin, std::size_t end) {
    query::Join join{.kind = kind, .children = {}};
    const NodePath own = path + "/" + query::Join::keyOf(kind) + "/";
    for (std::size_t message = begin; message < end;) {
      const NodePath node = own + std::to_string(join.children.size());
      if (m_next < m_call.request.groups.size() && m_call.request.groups[m_next].bounds.front() == message) {
        m_call.request.groups[m_next].node = node;
        const PlusGroup group = m_call.request.groups[m_next++];
        join.children.push_back(query::Node{plusOf(group, node)});
        message = group.bounds.back();
        continue;
      }
      m_call.request.messages[message].node = node;
      join.children.push_back(messageNode(message++));
    }
    return join;
  }

  query::Join plusOf(const PlusGroup& group, const NodePath& path) {
    query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
    const NodePath own = path + "/plus/";
    for (std::size_t child = 0; child + 1 < group.bounds.size(); ++child) {
      const NodePath node = own + std::to_string(child);
      const bool isSingle = group.bounds[child] + 1 == group.bounds[child + 1];
      if (isSingle) {
        m_call.request.messages[group.bounds[child]].node = node;
        plus.children.push_back(messageNode(group.bounds[child]));
      } else {
        plus.children.push_back(
            query::Node{joinOf(query::JoinKind::Cross, node, group.bounds[child], group.bounds[child + 1])});
      }
    }
    return plus;
  }

  PassedCall& m_call;
  std::size_t m_next = 0;  ///< the next group
};

query::Node treeOf(PassedCall& call) {
  query::Generate generate;
  generate.settings.model = call.request.model;
  if (call.request.maxTokens) generate.settings.maxTokens = *call.request.maxTokens;
  generate.settings.temperature = call.request.temperature;
  generate.input = TreeMaker(call).make();
  return query::Node{std::move(generate)};
}

}  // namespace

CallKind callKindOf(std::string_view method, std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  if (method != "POST") return CallKind::Other;
  if (path.ends_with("/chat/completions")) return CallKind::Chat;
  if (path.ends_with("/completions")) return CallKind::Completion;
  return path.ends_with("/v1/query/execute") ? CallKind::Query : CallKind::Other;
}

PassedCall readPassedCall(CallKind kind, std::string_view body) {
  PassedCall call{.kind = kind};
  const CallJson json = isTooDeep(body) ? CallJson() : CallJson::parse(body, nullptr, false);
  if (!json.is_object()) {
    call.problem = "The body is not a JSON object.";
    return call;
  }
  readSettings(json, call);
  if (kind == CallKind::Chat)
    readMessages(json, call);
  else
    readPrompt(json, call);
  if (kind == CallKind::Chat) {
    if (const CallJson* const mark = fieldIn(json, kMark)) readMark(*mark, call);
  }
  if (call.problem.empty()) treeOf(call);  // gives each message its node
  return call;
}

query::Node queryOf(const PassedCall& call) {
  PassedCall own = call;
  return treeOf(own);
}

std::string bodyInOrder(std::string_view body, const remote::SentOrder& order) {
  CallJson json = CallJson::parse(body);
  json.erase(kMark);
  if (!order.messages.empty()) {
    const CallJson written = json["messages"];
    CallJson& sent = json["messages"];
    for (std::size_t place = 0; place < order.messages.size(); ++place)
      sent[place] = written.at(order.messages[place]);
    for (const remote::OrderNote& note : order.notes)
      sent.insert(sent.begin() + static_cast<std::ptrdiff_t>(note.place),
                  CallJson{{"role", "user"}, {"content", note.text}});
  }
  return compactJson(json);
}

}  // namespace spanscope::gateway
