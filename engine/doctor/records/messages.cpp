// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/records/messages.h"

#include "engine/base/hash.h"
#include "engine/doctor/log_reader.h"

#include <iterator>
#include <string_view>
#include <utility>

namespace spanscope::doctor {
namespace {

std::string joinedTexts(const Json& value);

/// Adds a block of a content list. Results of tools become messages of their own.
void addBlock(const Json& block, std::vector<Part>& parts, std::vector<Message>& results) {
  if (block.is_string()) return addText(parts, Part::Kind::Text, block.get<std::string>());
  const std::string type = textOfJson(memberOf(block, "type"));
  const Json* text = memberOf(block, "text", "content", "refusal");
  if (type == "text" || type == "input_text" || type == "output_text" || type == "refusal" ||
      type == "summary_text" || (type.empty() && text != nullptr)) {
    if (text != nullptr) addText(parts, Part::Kind::Text, joinedTexts(*text));
  } else if (type == "thinking" || type == "reasoning" || type == "redacted_thinking" ||
             type == "reasoning_text") {
    const Json* thought = memberOf(block, "thinking", "text", "content", "reasoning", "summary", "data");
    if (thought != nullptr) addText(parts, Part::Kind::Reasoning, joinedTexts(*thought));
  } else if (type == "tool_use" || type == "tool_call" || type == "function_call" ||
             type == "custom_tool_call" || type == "local_shell_call") {
    parts.push_back({.kind = Part::Kind::ToolCall,
                     .text = argumentsText(memberOf(block, "input", "arguments", "action")),
                     .name = textOfJson(memberOf(block, "name"))});
  } else if (type == "tool_result" || type == "tool_call_response" || type == "function_call_output" ||
             type == "custom_tool_call_output") {
    const Json* result = memberOf(block, "content", "response", "output", "result");
    Message message{.role = "tool"};
    if (result != nullptr && result->is_array()) {
      std::vector<Message> none;
      for (const Json& inner : *result) addBlock(inner, message.parts, none);
      for (Part& part : message.parts)
        if (part.kind == Part::Kind::Text) part.kind = Part::Kind::ToolResult;
    } else {
      addText(message.parts, Part::Kind::ToolResult, result == nullptr ? "" : joinedTexts(*result));
    }
    results.push_back(std::move(message));
  } else if (type == "document" || type == "file" || type == "input_file") {
    const Json* inner = memberAt(block, {"source", "data"});
    if (inner == nullptr) inner = text;
    const bool isText =
        inner != nullptr && inner->is_string() && textOfJson(memberAt(block, {"source", "type"})) != "base64";
    if (isText) {
      addText(parts, Part::Kind::Text, inner->get<std::string>());
    } else {
      addImage(parts, block);
    }
  } else if (const Json* image =
                 memberOf(block, "image_url", "source", "image", "input_audio", "blob", "uri")) {
    addImage(parts, *image);
  } else {
    // An unknown block still changes the prompt.
    addText(parts, Part::Kind::Text, compactJson(block));
  }
}

std::string joinedTexts(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return compactJson(value);
  std::vector<Part> parts;
  std::vector<Message> results;
  for (const Json& block : value) addBlock(block, parts, results);
  std::string text;
  for (const Part& part : parts) text += part.text;
  return text;
}

std::string roleOf(const Json& message) {
  std::string role = textOfJson(memberOf(message, "role"));
  if (role == "developer") return "system";
  if (role == "function") return "tool";
  if (role == "model" || role == "ai") return "assistant";
  if (role == "human") return "user";
  return role;
}

}  // namespace

std::string argumentsText(const Json* value) {
  if (value == nullptr) return {};
  if (!value->is_string()) return compactJson(*value);
  const auto& text = value->get_ref<const std::string&>();
  if (const Json inner = parseWithinLimits(text); inner.is_object()) return compactJson(inner);
  return text;
}

void addText(std::vector<Part>& parts, Part::Kind kind, std::string text) {
  if (text.empty()) return;
  // Servers join neighbouring texts with a line break.
  if (!parts.empty() && parts.back().kind == kind && kind == Part::Kind::Text) {
    parts.back().text += "\n" + text;
  } else {
    parts.push_back({.kind = kind, .text = std::move(text)});
  }
}

void addImage(std::vector<Part>& parts, const Json& image) {
  parts.push_back({.kind = Part::Kind::Image, .text = hash128(compactJson(image)).hex()});
}

void addToolCalls(const Json* calls, std::vector<Part>& parts) {
  if (calls == nullptr || !calls->is_array()) return;
  for (const Json& call : *calls) {
    const Json* function = memberOf(call, "function");
    const Json& named = function == nullptr ? call : *function;
    parts.push_back({.kind = Part::Kind::ToolCall,
                     .text = argumentsText(memberOf(named, "arguments", "input", "args")),
                     .name = textOfJson(memberOf(named, "name"))});
  }
}

void addLoggedMessage(const Json& message, std::vector<Message>& messages) {
  if (message.is_string()) {
    messages.push_back(
        {.role = "user", .parts = {{.kind = Part::Kind::Text, .text = message.get<std::string>()}}});
    return;
  }
  if (!message.is_object()) return;
  const std::string type = textOfJson(memberOf(message, "type"));
  Message made{.role = roleOf(message)};
  // Templates write this role in another form.
  if (const std::string sent = textOfJson(memberOf(message, "role")); sent == "developer")
    made.sentRole = sent;
  std::vector<Message> results;
  if (made.role.empty() && !type.empty() && type != "message") {
    addBlock(message, made.parts, results);
    made.role = "assistant";
  } else {
    if (const Json* thought = memberOf(message, "reasoning_content", "reasoning", "thinking"))
      addText(made.parts, Part::Kind::Reasoning, joinedTexts(*thought));
    const bool isTool = made.role == "tool";
    if (const Json* content = memberOf(message, "content", "parts")) {
      if (content->is_array()) {
        for (const Json& block : *content) addBlock(block, made.parts, results);
      } else {
        addText(made.parts, Part::Kind::Text, joinedTexts(*content));
      }
    }
    if (isTool) {
      for (Part& part : made.parts)
        if (part.kind == Part::Kind::Text) part.kind = Part::Kind::ToolResult;
    }
    if (const Json* images = memberOf(message, "images"); images != nullptr && images->is_array())
      for (const Json& image : *images) addImage(made.parts, image);
    addToolCalls(memberOf(message, "tool_calls"), made.parts);
    if (const Json* call = memberOf(message, "function_call"))
      addToolCalls(&static_cast<const Json&>(Json::array({*call})), made.parts);
  }
  for (Message& result : results) messages.push_back(std::move(result));
  if (made.parts.empty() && !results.empty()) return;
  // Reasoning, text and calls of one answer are items of their own in OpenAI's responses.
  const bool isItem = !type.empty() && (type == "reasoning" || type == "function_call" || type == "message");
  if (isItem && made.role == "assistant" && !messages.empty() && messages.back().role == "assistant") {
    auto& parts = messages.back().parts;
    parts.insert(parts.end(), std::make_move_iterator(made.parts.begin()),
                 std::make_move_iterator(made.parts.end()));
    return;
  }
  messages.push_back(std::move(made));
}

void addMessages(const Json* list, std::vector<Message>& messages) {
  if (list == nullptr) return;
  if (list->is_array()) {
    for (const Json& message : *list) addLoggedMessage(message, messages);
  } else {
    addLoggedMessage(*list, messages);
  }
}

void addSystem(const Json* system, std::vector<Message>& messages) {
  if (system == nullptr) return;
  Message message{.role = "system"};
  addText(message.parts, Part::Kind::Text, joinedTexts(*system));
  if (!message.parts.empty()) messages.insert(messages.begin(), std::move(message));
}

void addTools(const Json* tools, std::vector<Tool>& list) {
  if (tools == nullptr || !tools->is_array()) return;
  for (const Json& tool : *tools) {
    const Json* function = memberOf(tool, "function");
    const Json& named = function != nullptr && function->is_object() ? *function : tool;
    const Json* parameters = memberOf(named, "parameters", "input_schema");
    std::string name = textOfJson(memberOf(named, "name"));
    if (name.empty()) name = textOfJson(memberOf(tool, "type"));
    list.push_back({name, toolText(name, textOfJson(memberOf(named, "description")),
                                   parameters == nullptr ? std::string() : compactJson(*parameters))});
  }
}

std::string toolText(const std::string& name, std::string_view description, std::string_view parameters) {
  std::string text = "{\"name\":" + compactJson(Json(name));
  if (!description.empty()) text += ",\"description\":" + compactJson(Json(description));
  if (!parameters.empty()) text += ",\"parameters\":" + std::string(parameters);
  return text + "}";
}

}  // namespace spanscope::doctor
