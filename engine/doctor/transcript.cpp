// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/transcript.h"

#include "engine/base/error.h"
#include "engine/doctor/records/answers.h"
#include "engine/doctor/records/messages.h"

#include <algorithm>
#include <array>
#include <utility>

namespace spanscope::doctor {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20U;  // of a history

bool isTrue(const nlohmann::ordered_json* value) {
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

template <std::size_t N>
bool isOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

constexpr std::array<std::string_view, 5> kCodexLines{"session_meta", "response_item", "turn_context",
                                                      "event_msg", "compacted"};
/// Lines of Claude Code that can come before its first message.
constexpr std::array<std::string_view, 4> kClaudeNotes{"summary", "file-history-snapshot", "queue-operation",
                                                       "permission-mode"};

/// Other programs write requests with the same names of ids.
bool isRequest(const nlohmann::ordered_json& line) {
  return std::ranges::any_of(std::array{"messages", "request", "body", "prompt", "input"},
                             [&](const char* name) { return memberOf(line, name) != nullptr; });
}

bool isInput(std::string_view type, std::string_view role) {
  return type.ends_with("_output") || (type == "message" && role != "assistant");
}

}  // namespace

bool Transcript::couldBe(std::string_view line) const {
  const auto has = [&](std::string_view text) { return line.find(text) != std::string_view::npos; };
  const auto hasOneOf = [&](const auto& names) {
    return std::ranges::any_of(names,
                               [&](std::string_view name) { return has("\"" + std::string(name) + "\""); });
  };
  return m_isActive || (has("\"sessionId\"") && has("\"uuid\"")) || hasOneOf(kClaudeNotes) ||
         (has("\"payload\"") && hasOneOf(kCodexLines));
}

bool Transcript::add(const Json& line, const LogPlace& place) {
  if (!line.is_object()) return false;
  if (addCodex(line, place) || addClaude(line, place)) {
    m_isActive = true;
    return true;
  }
  // Notes of the agent, such as the title of a session, are no messages.
  return m_isActive && memberOf(line, "type") != nullptr && !isRequest(line);
}

void Transcript::finish() {
  for (auto& [key, session] : m_sessions) end(session);
  m_sessions.clear();
}

void Transcript::count(Session& session, const Message& message) {
  for (const Part& part : message.parts) session.bytes += part.text.size() + sizeof(Part);
  if (session.bytes > kMostBytes)
    throw Failure(errorAt("transcript", "more than 512 MiB of messages in a session", "a smaller session"));
}

void Transcript::cut(Session& session, std::size_t messages) {
  if (messages >= session.history.size()) return;
  end(session);
  session.history.resize(messages);
  session.bytes = 0;
  for (const Message& message : session.history) count(session, message);
}

void Transcript::begin(Session& session, std::string id, const Json& line, const LogPlace& place) {
  end(session);
  Open open{.id = std::move(id), .prompt = session.history.size(), .request = {}};
  open.request.place = {.file = place.file, .line = place.line, .isTranscript = true};
  open.request.time = timeOfJson(memberOf(line, "timestamp"));
  open.request.conversation = session.id;
  open.request.model = session.model;
  session.open = std::move(open);
  session.history.push_back({.role = "assistant"});
}

void Transcript::end(Session& session) {
  if (!session.open) return;
  Open open = std::move(*session.open);
  session.open.reset();
  if (m_only && *m_only != open.request.place.line) return;
  LoggedRequest& request = open.request;
  if (!session.instructions.empty())
    request.messages.push_back(
        {.role = "system", .parts = {{.kind = Part::Kind::Text, .text = session.instructions}}});
  request.messages.insert(request.messages.end(), session.history.begin(),
                          session.history.begin() + static_cast<std::ptrdiff_t>(open.prompt));
  if (request.messages.empty()) return;
  if (open.prompt < session.history.size()) request.answer = session.history[open.prompt];
  m_take(std::move(request));
}

bool Transcript::addClaude(const Json& line, const LogPlace& place) {
  const std::string type = textOfJson(memberOf(line, "type"));
  const std::string sessionId = textOfJson(memberOf(line, "sessionId"));
  const std::string uuid = textOfJson(memberOf(line, "uuid"));
  if (type.empty() || isRequest(line)) return false;
  if (uuid.empty() || sessionId.empty()) return isOneOf(type, kClaudeNotes);
  const std::string parent = textOfJson(memberOf(line, "parentUuid"));
  std::string key = sessionId;
  if (isTrue(memberOf(line, "isSidechain"))) {
    // A side chain is a conversation of its own. Its first line has no parent.
    const auto found = m_sidechains.find(parent);
    const std::string agent = textOfJson(memberOf(line, "agentId"));
    key += "/" + (!agent.empty() ? agent : found != m_sidechains.end() ? found->second : uuid);
    m_sidechains[uuid] = key.substr(sessionId.size() + 1);
  }
  Session& session = m_sessions[key];
  session.id = key;
  const Json* message = memberOf(line, "message");
  if (type == "system" && textOfJson(memberOf(line, "subtype")) == "compact_boundary") cut(session, 0);
  if (type == "user" && message != nullptr) {
    const bool isSummary = isTrue(memberOf(line, "isCompactSummary"));
    if (isSummary) cut(session, 0);
    if (isSummary || !isTrue(memberOf(line, "isVisibleInTranscriptOnly"))) {
      std::vector<Message> read;
      addLoggedMessage(*message, read);
      const bool isPrompt = std::ranges::any_of(read, [](const Message& one) { return one.role == "user"; });
      // A prompt can follow an earlier message than the last one, if the user went back. Results of parallel
      // tools do so, too, but remove nothing.
      if (const auto found = session.places.find(parent); isPrompt && found != session.places.end())
        cut(session, found->second);
      for (Message& one : read) {
        count(session, one);
        session.history.push_back(std::move(one));
      }
    }
  }
  if (type == "assistant" && message != nullptr && !isTrue(memberOf(line, "isApiErrorMessage"))) {
    std::string id = textOfJson(memberOf(*message, "id"));
    if (id.empty()) id = uuid;
    std::string model = textOfJson(memberOf(*message, "model"));
    if (model == "<synthetic>") return true;  // a note of the program, which no model wrote
    if (!session.open || session.open->id != id) {
      session.model = std::move(model);
      begin(session, std::move(id), line, place);
    }
    std::vector<Message> read;
    addLoggedMessage(*message, read);
    Open& open = *session.open;
    for (Message& one : read) {
      count(session, one);
      auto& parts = session.history[open.prompt].parts;
      parts.insert(parts.end(), std::make_move_iterator(one.parts.begin()),
                   std::make_move_iterator(one.parts.end()));
    }
    if (const Json* usage = memberOf(*message, "usage")) readLoggedUsage(usage, open.request.usage);
    open.request.place.bytes = place.begin + place.bytes;
  }
  session.places[uuid] = session.history.size();
  return true;
}

bool Transcript::addCodex(const Json& line, const LogPlace& place) {
  const std::string type = textOfJson(memberOf(line, "type"));
  const Json* payload = memberOf(line, "payload");
  if (payload == nullptr || !payload->is_object() || !isOneOf(type, kCodexLines)) return false;
  Session& session = m_sessions["codex"];
  if (type == "session_meta") {
    if (session.id.empty()) session.id = textOfJson(memberOf(*payload, "id"));
    if (const Json* base = memberOf(*payload, "base_instructions"))
      session.instructions = base->is_object() ? textOfJson(memberOf(*base, "text")) : textOfJson(base);
    else if (const Json* given = memberOf(*payload, "instructions"))
      session.instructions = textOfJson(given);
  } else if (type == "turn_context") {
    if (std::string model = textOfJson(memberOf(*payload, "model")); !model.empty())
      session.model = std::move(model);
  } else if (type == "compacted") {
    const Json* items = memberOf(*payload, "replacement_history");
    if (items == nullptr || !items->is_array()) {
      // The user's messages stay, and a summary follows.
      end(session);
      std::erase_if(session.history,
                    [](const Message& one) { return one.role != "user" && one.role != "system"; });
      session.history.push_back(
          {.role = "user",
           .parts = {{.kind = Part::Kind::Text, .text = textOfJson(memberOf(*payload, "message"))}}});
    } else {
      cut(session, 0);
      for (const Json& item : *items) addLoggedMessage(item, session.history);
    }
    session.hasInput = true;
  } else if (type == "event_msg") {
    const std::string event = textOfJson(memberOf(*payload, "type"));
    const Json* info = memberOf(*payload, "info");
    const Json* usage = info == nullptr ? nullptr : memberOf(*info, "last_token_usage");
    if (event == "token_count" && usage != nullptr && session.open && !session.hasInput) {
      readLoggedUsage(usage, session.open->request.usage);
      session.open->request.place.bytes = place.begin + place.bytes;
    }
  } else {
    addItem(session, *payload, line, place);
  }
  return true;
}

void Transcript::addItem(Session& session, const Json& item, const Json& line, const LogPlace& place) {
  const std::string type = textOfJson(memberOf(item, "type"));
  if (type != "message" && type != "reasoning" && !type.ends_with("_call") && !type.ends_with("_output"))
    return;
  std::vector<Message> read;
  addLoggedMessage(item, read);
  std::erase_if(read, [](const Message& one) { return one.parts.empty(); });
  for (const Message& one : read) count(session, one);
  if (isInput(type, textOfJson(memberOf(item, "role")))) {
    for (Message& one : read) session.history.push_back(std::move(one));
    session.hasInput = true;
    return;
  }
  if (!session.open || session.hasInput) begin(session, {}, line, place);
  session.hasInput = false;
  auto& parts = session.history[session.open->prompt].parts;
  for (Message& one : read)
    parts.insert(parts.end(), std::make_move_iterator(one.parts.begin()),
                 std::make_move_iterator(one.parts.end()));
  session.open->request.place.bytes = place.begin + place.bytes;
}

}  // namespace spanscope::doctor
