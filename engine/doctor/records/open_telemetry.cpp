// SPDX-License-Identifier: GPL-3.0-or-later
// Spans of OpenTelemetry with the attributes gen_ai.*, and of OpenInference with llm.*.
#include "engine/doctor/log_reader.h"
#include "engine/doctor/records/bodies.h"
#include "engine/doctor/records/messages.h"
#include "engine/doctor/records/record_formats.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace spanscope::doctor {
namespace {

/// The value of an attribute of OTLP, or a plain value.
Json attributeValue(const Json& value) {
  if (!value.is_object()) return value;
  for (const char* name : {"stringValue", "string_value", "intValue", "int_value", "doubleValue",
                           "double_value", "boolValue", "bool_value"})
    if (const Json* plain = memberOf(value, name)) return *plain;
  if (const Json* list = memberOf(value, "arrayValue", "array_value"); list != nullptr) {
    Json values = Json::array();
    if (const Json* inner = memberOf(*list, "values"); inner != nullptr && inner->is_array())
      for (const Json& one : *inner) values.push_back(attributeValue(one));
    return values;
  }
  if (const Json* list = memberOf(value, "kvlistValue", "kvlist_value"); list != nullptr) {
    Json object = Json::object();
    if (const Json* inner = memberOf(*list, "values"); inner != nullptr && inner->is_array()) {
      for (const Json& one : *inner) {
        const Json* member = memberOf(one, "value");
        if (member != nullptr) object[textOfJson(memberOf(one, "key"))] = attributeValue(*member);
      }
    }
    return object;
  }
  return value;
}

Json attributesOf(const Json* list) {
  Json attributes = Json::object();
  if (list == nullptr) return attributes;
  if (list->is_object()) {
    for (const auto& [name, value] : list->items()) attributes[name] = attributeValue(value);
  } else if (list->is_array() && list->size() <= kMaxMembers) {
    for (const Json& one : *list) {
      const Json* value = memberOf(one, "value");
      if (value != nullptr) attributes[textOfJson(memberOf(one, "key"))] = attributeValue(*value);
    }
  }
  return attributes;
}

/// An attribute can hold JSON as a text.
Json structured(const Json* value) {
  if (value == nullptr) return {};
  if (!value->is_string()) return *value;
  Json inner = parseWithinLimits(value->get_ref<const std::string&>());
  return inner.is_discarded() ? *value : inner;
}

/// Messages as numbered attributes: "gen_ai.prompt.0.role".
void addNumbered(const Json& attributes, const std::string& before, const std::string& between,
                 std::vector<Message>& messages) {
  for (std::size_t i = 0; i < kMaxMembers; ++i) {
    const std::string name = before + std::to_string(i) + "." + between;
    const Json* role = memberOf(attributes, name + "role");
    const Json* content = memberOf(attributes, name + "content");
    if (role == nullptr && content == nullptr) return;
    Json message{{"role", textOfJson(role)}};
    if (content != nullptr) message["content"] = *content;
    addLoggedMessage(message, messages);
  }
}

/// Whether a span is about an agent, a tool or a chain, which contain the spans of their requests.
bool isAroundRequests(const Json& attributes) {
  constexpr std::array<std::string_view, 6> kOthers{"invoke_agent",    "create_agent", "execute_tool",
                                                    "invoke_workflow", "embeddings",   "retrieval"};
  const std::string kind = textOfJson(memberOf(attributes, "openinference.span.kind"));
  if (!kind.empty() && kind != "LLM") return true;
  const std::string operation = textOfJson(memberOf(attributes, "gen_ai.operation.name"));
  return std::ranges::find(kOthers, operation) != kOthers.end();
}

}  // namespace

bool readSpan(const Json& span, std::vector<LoggedRequest>& requests) {
  const Json* list = memberOf(span, "attributes");
  if (list == nullptr ||
      memberOf(span, "spanId", "span_id", "traceId", "trace_id", "context", "startTimeUnixNano") == nullptr)
    return false;
  const Json attributes = attributesOf(list);
  if (isAroundRequests(attributes)) return true;
  LoggedRequest request;
  request.model =
      textOfJson(memberOf(attributes, "gen_ai.request.model", "gen_ai.response.model", "llm.model_name"));
  request.answeredModel = textOfJson(memberOf(attributes, "gen_ai.response.model"));
  const auto status = countOfJson(memberOf(attributes, "http.response.status_code"));
  const bool hasUsage =
      memberOf(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens") != nullptr;
  const bool hasErrorStatus = status && *status >= 400;
  if (hasErrorStatus || (memberOf(attributes, "error.type") != nullptr && !hasUsage)) {
    Json stated = Json::object();
    if (hasErrorStatus) stated["status"] = *status;
    // The status of a span has the words of the error.
    const Json* words = memberAt(span, {"status", "message"});
    if (words == nullptr || textOfJson(words).empty()) words = memberOf(attributes, "exception.message");
    if (words == nullptr) words = memberOf(attributes, "error.type");
    if (words != nullptr) stated["error"] = *words;
    request.failure = failureOf(stated, nullptr);
    if (request.failure.empty()) request.failure = "an error";
  }
  request.conversation = textOfJson(memberOf(attributes, "gen_ai.conversation.id", "session.id"));
  request.time =
      timeOfJson(memberOf(span, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"));
  const auto end = timeOfJson(memberOf(span, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime"));
  if (request.time && end && *end >= *request.time) request.running = RunningTime{*request.time, *end};
  request.usage.prompt = countOfJson(memberOf(attributes, "gen_ai.usage.input_tokens",
                                              "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"));
  request.usage.cached =
      countOfJson(memberOf(attributes, "gen_ai.usage.cache_read.input_tokens",
                           "gen_ai.usage.cache_read_input_tokens", "gen_ai.usage.input_tokens.cached",
                           "gen_ai.usage.cached_tokens", "llm.token_count.prompt_details.cache_read"));
  request.usage.answer =
      countOfJson(memberOf(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"));
  Json input = structured(memberOf(attributes, "gen_ai.input.messages", "gen_ai.prompt", "input.value"));
  Json output =
      structured(memberOf(attributes, "gen_ai.output.messages", "gen_ai.completion", "output.value"));
  Json system = structured(memberOf(attributes, "gen_ai.system_instructions", "gen_ai.system.instructions"));
  const Json tools =
      structured(memberOf(attributes, "gen_ai.tool.definitions", "gen_ai.request.tools", "llm.tools"));
  AnswerReading answer;
  if (input.is_array()) addMessages(&input, request.messages);
  if (isBody(input)) readBody(input, request);
  if (input.is_string()) addLoggedMessage(input, request.messages);
  addNumbered(attributes, "gen_ai.prompt.", "", request.messages);
  addNumbered(attributes, "llm.input_messages.", "message.", request.messages);
  std::vector<Message> said;
  addNumbered(attributes, "gen_ai.completion.", "", said);
  addNumbered(attributes, "llm.output_messages.", "message.", said);
  if (const Json* events = memberOf(span, "events"); events != nullptr && events->is_array()) {
    for (const Json& event : *events) {
      const std::string name = textOfJson(memberOf(event, "name"));
      Json members = attributesOf(memberOf(event, "attributes"));
      if (const Json* body = memberOf(event, "body")) members = attributeValue(*body);
      if (const Json* inner = memberOf(members, "gen_ai.input.messages");
          inner != nullptr && request.messages.empty()) {
        const Json messages = structured(inner);
        addMessages(&messages, request.messages);
      }
      if (const Json* inner = memberOf(members, "gen_ai.system_instructions");
          inner != nullptr && system.is_null())
        system = structured(inner);
      if (const Json* inner = memberOf(members, "gen_ai.output.messages");
          inner != nullptr && output.is_null())
        output = structured(inner);
      if (name == "gen_ai.choice") {
        const Json message = structured(memberOf(members, "message"));
        addLoggedMessage(message.is_object() ? message : members, said);
      } else if (name.starts_with("gen_ai.") && name.ends_with(".message")) {
        if (memberOf(members, "role") == nullptr) members["role"] = name.substr(7, name.size() - 7 - 8);
        for (const char* member : {"content", "tool_calls"})
          if (const Json* inner = memberOf(members, member); inner != nullptr && inner->is_string()) {
            Json blocks = structured(inner);
            if (blocks.is_array()) members[member] = std::move(blocks);
          }
        addLoggedMessage(members, request.messages);
      }
    }
  }
  if (!system.is_null()) addSystem(&system, request.messages);
  if (tools.is_array()) addTools(&tools, request.tools);
  if (output.is_array()) addMessages(&output, said);
  if (!said.empty()) {
    request.answer = Message{.role = "assistant"};
    for (Message& one : said)
      for (Part& part : one.parts) request.answer->parts.push_back(std::move(part));
  } else if (output.is_object()) {
    readAnswer(output, answer);
    if (answer.isFound) request.answer = std::move(answer.message);
  }
  if (!request.messages.empty()) requests.push_back(std::move(request));
  return true;
}

}  // namespace spanscope::doctor
