// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/records/bodies.h"

#include "engine/base/utf8.h"
#include "engine/doctor/causes/changed_text.h"
#include "engine/doctor/records/messages.h"
#include "engine/doctor/redaction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

namespace spanscope::doctor {
namespace {

void readPrompt(const Json& prompt, LoggedRequest& request) {
  if (prompt.is_string()) {
    request.messages.push_back(
        {.role = kRawRole, .parts = {{.kind = Part::Kind::Text, .text = prompt.get<std::string>()}}});
    return;
  }
  if (!prompt.is_array() || prompt.empty()) return;
  if (prompt.front().is_string() || prompt.front().is_array()) return readPrompt(prompt.front(), request);
  for (const Json& id : prompt) {
    const auto number = countOfJson(&id);
    if (!id.is_number_integer() || !number || *number > std::numeric_limits<TokenId>::max()) {
      request.ids.clear();
      return;
    }
    request.ids.push_back(static_cast<TokenId>(*number));
  }
}

/// Returns the longest time to live among the cache_control marks of a list: 5 minutes, or the given hour.
/// https://docs.claude.com/en/docs/build-with-claude/prompt-caching
std::optional<std::int64_t> timeToLiveIn(const Json* list) {
  constexpr std::int64_t kDefault = 5 * 60'000;
  constexpr std::int64_t kHour = 60 * 60'000;
  std::optional<std::int64_t> longest;
  if (list == nullptr || !list->is_array()) return longest;
  for (const Json& entry : *list) {
    if (!entry.is_object()) continue;
    if (const Json* mark = memberOf(entry, "cache_control"); mark != nullptr && mark->is_object())
      longest = std::max(longest.value_or(0), textOfJson(memberOf(*mark, "ttl")) == "1h" ? kHour : kDefault);
    // A message has its marks in the parts of its content.
    if (const Json* parts = memberOf(entry, "content");
        parts != nullptr && memberOf(entry, "role") != nullptr)
      if (const auto inner = timeToLiveIn(parts)) longest = std::max(longest.value_or(0), *inner);
  }
  return longest;
}

/// Returns the words of a server about an error, on one line, without secrets and without a period. Empty:
/// there are none. `given`: a text, an object around a text, or nullptr.
std::string wordsOfError(const Json* given, int depth = 0) {
  constexpr std::size_t kMostWordBytes = 300;
  if (given == nullptr || depth > kMostWrappers) return {};
  if (given->is_array()) return given->empty() ? std::string() : wordsOfError(&given->front(), depth + 1);
  if (given->is_object()) {
    if (textOfJson(memberOf(*given, "encoding")) == "base64") return {};
    for (const char* name : {"error", "message", "detail", "msg", "error_message", "problem", "body", "json",
                             "data", "content", "text"})
      if (std::string words = wordsOfError(memberOf(*given, name), depth + 1); !words.empty()) return words;
    return {};
  }
  if (!given->is_string()) return {};
  const std::string_view text = trimmed(given->get_ref<const std::string&>());
  if (text.starts_with('{') || text.starts_with('[')) {
    if (const Json inner = parseWithinLimits(text); !inner.is_discarded())
      return wordsOfError(&inner, depth + 1);
  }
  if (text.starts_with('<')) return {};  // a web page
  std::string words = onOneLine(redacted(text));
  if (words.size() > kMostWordBytes) {
    std::size_t end = kMostWordBytes;
    while (end > 0 && (static_cast<unsigned char>(words[end]) & 0xC0U) == 0x80U) --end;
    words = words.substr(0, end) + "…";
  }
  while (words.ends_with('.') || words.ends_with(' ')) words.pop_back();
  return words;
}

}  // namespace

void readBody(const Json& body, LoggedRequest& request) {
  request.model = textOfJson(memberOf(body, "model"));
  request.salt = textOfJson(memberOf(body, "cache_salt"));
  request.adapter = textOfJson(memberOf(body, "lora", "adapter", "lora_name", "lora_path"));
  if (request.adapter.empty())
    if (const Json* lora = memberOf(body, "lora"); lora != nullptr) request.adapter = compactJson(*lora);
  if (const std::string slot = textOfJson(memberOf(body, "id_slot")); !slot.empty() && slot != "-1")
    request.replica = "slot " + slot;
  for (const Json* options : {&body, memberOf(body, "model_parameters", "optional_params", "extra_body")}) {
    if (options == nullptr) continue;
    if (request.salt.empty()) request.salt = textOfJson(memberOf(*options, "cache_salt"));
    if (request.tools.empty()) addTools(memberOf(*options, "tools", "functions"), request.tools);
  }
  const Json* messages = memberOf(body, "messages");
  const Json* input = memberOf(body, "input");
  const Json* prompt = memberOf(body, "prompt");
  if (messages != nullptr && messages->is_array()) {
    addMessages(messages, request.messages);
  } else if (input != nullptr) {
    addMessages(input, request.messages);
    request.previous = textOfJson(memberOf(body, "previous_response_id"));
    const Json* kept = memberOf(body, "conversation");
    if (request.previous.empty() && kept != nullptr)
      request.previous = kept->is_object() ? textOfJson(memberOf(*kept, "id")) : textOfJson(kept);
  } else if (prompt != nullptr) {
    readPrompt(*prompt, request);
    // Ollama puts the prompt of /api/generate into the chat template, except in raw mode.
    const Json* raw = memberOf(body, "raw");
    const bool isOllama =
        memberOf(body, "system", "options", "keep_alive", "template", "images", "context") != nullptr &&
        (raw == nullptr || *raw != Json(true));
    if (isOllama && !request.messages.empty()) request.messages.front().role = "user";
    if (const Json* images = memberOf(body, "images");
        images != nullptr && images->is_array() && !request.messages.empty())
      for (const Json& image : *images) addImage(request.messages.front().parts, image);
  }
  const Json* system = memberOf(body, "system", "instructions");
  addSystem(system, request.messages);
  for (const Json* list : {system, messages, memberOf(body, "tools")})
    if (const auto life = timeToLiveIn(list)) request.timeToLive = std::max(request.timeToLive, life);
  request.hasInstructions = system != nullptr && !request.messages.empty();
}

bool isBody(const Json& value) {
  if (!value.is_object()) return false;
  const Json* messages = memberOf(value, "messages");
  if (messages != nullptr && messages->is_array() && !messages->empty()) return true;
  const Json* prompt = memberOf(value, "prompt");
  if (prompt != nullptr && (prompt->is_string() || (prompt->is_array() && !prompt->empty()))) return true;
  const Json* input = memberOf(value, "input");
  const bool hasModel = memberOf(value, "model", "instructions") != nullptr;
  return input != nullptr && hasModel && memberOf(value, "output", "object") == nullptr &&
         (input->is_string() || (input->is_array() && !input->empty() && input->front().is_object()));
}

const Json* bodyIn(const Json& value, std::deque<Json>& held, int depth) {
  if (depth > kMostWrappers) return nullptr;
  if (value.is_string()) {
    const std::string_view text = trimmed(value.get_ref<const std::string&>());
    if (!text.starts_with('{')) return nullptr;
    held.push_back(parseWithinLimits(text));
    return bodyIn(held.back(), held, depth + 1);
  }
  if (isBody(value)) return &value;
  for (const std::string_view name :
       {"request", "req", "body", "requestBody", "request_body", "proxy_server_request", "kwargs", "payload",
        "json", "data", "input", "postData", "text", "params", "event"}) {
    const Json* inner = memberOf(value, name);
    if (inner == nullptr || (!inner->is_object() && !inner->is_string())) continue;
    if (const Json* body = bodyIn(*inner, held, depth + 1)) return body;
  }
  return nullptr;
}

void readRunningTime(const Json& record, LoggedRequest& request) {
  constexpr double kMostSeconds = 1e7;
  if (request.running) return;
  // A recording has the times of its session.
  if (const Json* times = memberOf(record, "running_ms");
      times != nullptr && times->is_array() && times->size() == 2) {
    const auto begin = countOfJson(&times->front());
    const auto end = countOfJson(&times->back());
    if (begin && end && *end >= *begin) request.running = RunningTime{*begin, *end};
    return;
  }
  const auto start =
      timeOfJson(memberOf(record, "start_time", "startTime", "startedDateTime", "started_at", "startedAt"));
  const auto end = timeOfJson(memberOf(record, "end_time", "endTime", "ended_at", "endedAt", "completed_at",
                                       "completedAt", "finished_at", "finishedAt"));
  const auto lengthOf = [](const Json* value, double unit) -> std::optional<std::int64_t> {
    if (value == nullptr || !value->is_number()) return {};
    const double milliseconds = value->get<double>() * unit;
    if (!(milliseconds >= 0) || milliseconds > kMostSeconds * 1000) return {};
    return static_cast<std::int64_t>(std::ceil(milliseconds));
  };
  auto length =
      lengthOf(memberOf(record, "duration_ms", "durationMs", "latency_ms", "latencyMs", "elapsed_ms"), 1);
  if (!length)
    length = lengthOf(
        memberOf(record, "duration_s", "duration_seconds", "latency_s", "latency_seconds", "elapsed_seconds"),
        1000);
  if (start && end) {
    if (*end >= *start) request.running = RunningTime{*start, *end};
  } else if (length && start) {
    request.running = RunningTime{*start, *start + *length};
  } else if (length && end) {
    request.running = RunningTime{*end - *length, *end};
  } else if (length && request.time) {
    request.running = RunningTime{*request.time - *length, *request.time + *length, false};
  }
}

void readFacts(const Json& record, LoggedRequest& request) {
  if (!record.is_object()) return;
  if (!request.time)
    request.time =
        timeOfJson(memberOf(record, "start_time", "startTime", "startedDateTime", "started_at", "time",
                            "timestamp", "ts", "created_at", "createdAt", "date", "created"));
  readRunningTime(record, request);
  if (const Json* lacks = memberOf(record, "incomplete"); lacks != nullptr && *lacks == Json(true))
    request.isIncomplete = true;
  const Json* metadata = memberOf(record, "metadata", "litellm_params");
  for (const Json* place : {&record, metadata}) {
    if (place == nullptr || !request.conversation.empty()) continue;
    request.conversation =
        textOfJson(memberOf(*place, "session_id", "conversation_id", "thread_id", "sessionId",
                            "conversationId", "litellm_session_id", "chat_id"));
    if (const Json* conversation = memberOf(*place, "conversation", "session");
        request.conversation.empty() && conversation != nullptr)
      request.conversation =
          conversation->is_object() ? textOfJson(memberOf(*conversation, "id")) : textOfJson(conversation);
  }
  if (request.model.empty()) request.model = textOfJson(memberOf(record, "model"));
  for (const Json* place : {&record, metadata, memberOf(record, "hidden_params", "_hidden_params")}) {
    if (place == nullptr || !request.upstream.empty()) continue;
    noteUpstream(textOfJson(memberOf(*place, "upstream", "replica", "backend", "upstream_addr",
                                     "upstream_host", "api_base")),
                 request);
  }
  for (const char* name : {"response_headers", "responseHeaders"})
    noteUpstream(serverInHeaders(memberOf(record, name)), request);
  if (const Json* server = memberOf(record, "server"); server != nullptr && server->is_object()) {
    request.server.kind = textOfJson(memberOf(*server, "kind"));
    const auto size = [&](const char* name, std::int64_t most) {
      return std::min(most, countOfJson(memberOf(*server, name)).value_or(0));
    };
    request.server.blockSize = static_cast<std::int32_t>(size("block_size", 1 << 20));
    request.server.slots = static_cast<std::int32_t>(size("slots", 1 << 12));
    request.server.cacheTokens = size("cache_tokens", std::int64_t{1} << 30U);
  }
  if (!request.usage.prompt && !request.usage.cached) {
    readLoggedUsage(memberOf(record, "usage"), request.usage);
    if (memberOf(record, "prompt_tokens") != nullptr) readLoggedUsage(&record, request.usage);
  }
}

std::string serverInHeaders(const Json* headers) {
  constexpr std::array<std::string_view, 13> kNames{"x-served-by",
                                                    "x-upstream",
                                                    "x-upstream-addr",
                                                    "x-upstream-server",
                                                    "x-backend",
                                                    "x-replica",
                                                    "x-replica-id",
                                                    "x-pod",
                                                    "x-pod-name",
                                                    "x-backend-server",
                                                    "x-server-id",
                                                    "x-instance-id",
                                                    "x-litellm-model-api-base"};
  const auto isName = [&](std::string_view name) {
    return std::ranges::find(kNames, inSmallLetters(name)) != kNames.end();
  };
  std::string found;
  const auto take = [&](const std::string& name, const Json* value) {
    // Such a name is a cache of a delivery network, not a server of models.
    const std::string text = textOfJson(value);
    if (found.empty() && isName(name) && !text.starts_with("cache-")) found = text;
  };
  if (headers != nullptr && headers->is_object())
    for (const auto& [name, value] : headers->items()) take(name, &value);
  if (headers != nullptr && headers->is_array())
    for (const Json& one : *headers) take(textOfJson(memberOf(one, "name")), memberOf(one, "value"));
  return found;
}

void noteUpstream(std::string name, LoggedRequest& request) {
  if (name.empty() || !request.upstream.empty()) return;
  request.replica = request.replica.empty() ? name : name + ", " + request.replica;
  request.upstream = std::move(name);
}

std::string failureOf(const Json& record, const Json* response) {
  constexpr std::int64_t kLeastError = 400;
  constexpr std::int64_t kMostStatus = 999;
  const auto statusOf = [](const Json* place) -> const Json* {
    return place == nullptr || !place->is_object()
               ? nullptr
               : memberOf(*place, "status", "status_code", "statusCode", "http_status", "response_status");
  };
  // A gateway states that the client left before the answer, and that the server computed the prompt.
  if (const Json* computed = memberOf(record, "computed"); computed != nullptr && *computed == Json(true))
    return {};
  const auto withWords = [&](std::string reason) {
    std::string words = wordsOfError(response);
    for (const char* name : {"error", "error_str", "error_message", "exception", "problem"})
      if (words.empty()) words = wordsOfError(memberOf(record, name));
    return words.empty() ? reason : reason + ": " + words;
  };
  for (const Json* status : {statusOf(&record), statusOf(response)}) {
    if (status == nullptr) continue;
    if (const auto number = countOfJson(status)) {
      if (*number >= kLeastError && *number <= kMostStatus)
        return withWords("status " + std::to_string(*number));
      if (*number == 0 && response == nullptr) return withWords("no response");
      continue;
    }
    const std::string word = textOfJson(status);
    for (const char* failed : {"failure", "failed", "error"})
      if (word == failed) return withWords("an error");
  }
  const Json* body = response;
  if (body != nullptr && body->is_object())
    if (const Json* inner = memberOf(*body, "body", "json", "data"); inner != nullptr && inner->is_object())
      body = inner;
  const bool hasAnswer =
      body != nullptr && memberOf(*body, "choices", "content", "output", "message") != nullptr;
  if (!hasAnswer &&
      ((body != nullptr && memberOf(*body, "error") != nullptr) || memberOf(record, "error") != nullptr))
    return withWords("an error");
  return {};
}

void takeAnswer(AnswerReading&& answer, LoggedRequest& request) {
  request.usage = answer.usage;
  request.answeredModel = std::move(answer.model);
  request.response = std::move(answer.id);
  request.server.kind = std::move(answer.server);
  if (answer.isFound) request.answer = std::move(answer.message);
}

void addRequest(const Json& record, const Json& body, std::vector<LoggedRequest>& requests) {
  LoggedRequest request;
  readBody(body, request);
  AnswerReading answer;
  const Json* response = memberOf(record, "response", "res", "responseBody", "response_body", "output",
                                  "completion", "result", "answer", "reply");
  // The request can be the record itself, in which these members have other meanings.
  if (&body != &record) request.failure = failureOf(record, response);
  if (response != nullptr && request.failure.empty()) readAnswer(*response, answer);
  takeAnswer(std::move(answer), request);
  if (response != nullptr) noteUpstream(serverInHeaders(memberOf(*response, "headers")), request);
  readFacts(record, request);
  if (const Json* inner = memberOf(record, "request"); inner != nullptr && inner->is_object())
    readFacts(*inner, request);
  if (&body != &record) readFacts(body, request);
  requests.push_back(std::move(request));
}

}  // namespace spanscope::doctor
