// SPDX-License-Identifier: GPL-3.0-or-later
// Writes requests in the form of OpenAI's chat completions.
#include "engine/doctor/log_reader.h"
#include "engine/doctor/records/json_members.h"
#include "engine/doctor/redaction.h"

namespace spanscope::doctor {

std::string chatLineOf(const LoggedRequest& request) {
  Json line = Json::object();
  if (!request.conversation.empty()) line["session_id"] = redacted(request.conversation);
  if (request.time) line["timestamp"] = *request.time;
  line["model"] = request.model;
  if (!request.salt.empty()) line["cache_salt"] = redacted(request.salt);
  for (const Tool& tool : request.tools)
    line["tools"].push_back(
        {{"type", "function"}, {"function", Json::parse(redacted(tool.text), nullptr, false)}});
  Json& messages = line["messages"] = Json::array();
  for (const Message& message : request.messages) {
    Json made{{"role", message.role == kRawRole ? "user" : message.writtenRole()}};
    std::string content;
    for (const Part& part : message.parts) {
      if (part.kind == Part::Kind::Reasoning) {
        made["reasoning_content"] = redacted(part.text);
      } else if (part.kind == Part::Kind::ToolCall) {
        made["tool_calls"].push_back(
            {{"type", "function"}, {"function", {{"name", part.name}, {"arguments", redacted(part.text)}}}});
      } else if (part.kind == Part::Kind::Image) {
        content += "[image " + part.text + "]";
      } else {
        content += part.text;
      }
    }
    made["content"] = redacted(content);
    messages.push_back(std::move(made));
  }
  return compactJson(line);
}

}  // namespace spanscope::doctor
