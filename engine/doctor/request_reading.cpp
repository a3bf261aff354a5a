// SPDX-License-Identifier: GPL-3.0-or-later
// Reads records in the forms of all protocols. Open this file to read another protocol.
#include "engine/base/hash.h"
#include "engine/base/utf8.h"
#include "engine/doctor/log_reader.h"
#include "engine/doctor/redaction.h"
#include "engine/doctor/request_parts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

namespace spanscope::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRequests = 100'000;  // in one record
constexpr int kMostWrappers = 5;

/// Checks depth and sizes before parsing, because parsing and searching take time that grows with them.
std::string faultOfShape(std::string_view text) {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '{' || c == '[') {
      members.push_back(0);
      if (members.size() > kMaxRecordDepth)
        return "JSON of more than " + std::to_string(kMaxRecordDepth) + " levels";
    } else if (c == '}' || c == ']') {
      if (!members.empty()) members.pop_back();
    } else if (c == ':' && !members.empty() && ++members.back() > kMaxMembers) {
      return "a JSON object of more than " + std::to_string(kMaxMembers) + " members";
    }
  }
  return {};
}

Json parsed(std::string_view text) {
  return faultOfShape(text).empty() ? Json::parse(text, nullptr, false)
                                    : Json(nlohmann::detail::value_t::discarded);
}

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json* find(const Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string(name));
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

template <class... Names>
const Json* find(const Json& object, std::string_view name, Names... names) {
  const Json* found = find(object, name);
  return found != nullptr ? found : find(object, names...);
}

/// Follows names through objects.
const Json* at(const Json& object, std::initializer_list<std::string_view> names) {
  const Json* place = &object;
  for (const std::string_view name : names) {
    place = find(*place, name);
    if (place == nullptr) return nullptr;
  }
  return place;
}

std::string textOf(const Json* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  return value->is_number_integer() ? value->dump() : std::string();
}

std::optional<std::int64_t> countOf(const Json* value) {
  if (value == nullptr) return {};
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  if (value->is_string()) {  // OTLP writes integers as texts
    std::int64_t number = 0;
    const auto& text = value->get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > kMost) return {};
    return number;
  }
  if (!value->is_number()) return {};
  const double number = value->get<double>();
  if (!(number >= 0) || number > static_cast<double>(kMost)) return {};
  return static_cast<std::int64_t>(number);
}

std::optional<std::int64_t> secondsOfDate(int year, int month, int day) {
  if (month < 1 || month > 12 || day < 1 || day > 31 || year < 1970 || year > 9999) return {};
  const std::chrono::sys_days days{std::chrono::year(year) /
                                   std::chrono::month(static_cast<unsigned>(month)) /
                                   std::chrono::day(static_cast<unsigned>(day))};
  return std::chrono::duration_cast<std::chrono::seconds>(days.time_since_epoch()).count();
}

/// Reads "2026-08-31T14:03:07.25+02:00" and numbers of seconds, milliseconds, micro- or nanoseconds.
std::optional<std::int64_t> timeOf(const Json* value) {
  if (value == nullptr) return {};
  if (value->is_number() ||
      (value->is_string() && !value->get_ref<const std::string&>().empty() &&
       value->get_ref<const std::string&>().find_first_not_of("0123456789.") == std::string::npos)) {
    double number = 0;
    if (value->is_number()) {
      number = value->get<double>();
    } else {
      const auto& digits = value->get_ref<const std::string&>();
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
    }
    if (!(number > 0) || number > 1e19) return {};
    double milliseconds = number * 1000;
    for (const double limit : {1e11, 1e14, 1e17})  // larger numbers count smaller units
      if (number > limit) milliseconds = number * 1000 / (limit * 1e-8);
    return static_cast<std::int64_t>(std::llround(milliseconds));
  }
  if (!value->is_string()) return {};
  const auto& text = value->get_ref<const std::string&>();
  if (text.size() < 19) return {};
  const auto number = [&](std::size_t begin, std::size_t count) {
    int result = -1;
    std::from_chars(text.data() + begin, text.data() + begin + count, result);
    return result;
  };
  const auto days = secondsOfDate(number(0, 4), number(5, 2), number(8, 2));
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  if (!days || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return {};
  std::int64_t milliseconds = (*days + hour * 3600 + minute * 60 + second) * 1000;
  std::size_t end = 19;
  if (end < text.size() && text[end] == '.') {
    std::int64_t scale = 100;
    for (++end; end < text.size() && text[end] >= '0' && text[end] <= '9'; ++end, scale /= 10)
      milliseconds += (text[end] - '0') * scale;
  }
  if (end + 6 <= text.size() && (text[end] == '+' || text[end] == '-')) {
    const std::int64_t offset = (number(end + 1, 2) * 60 + number(end + 4, 2)) * 60'000;
    milliseconds += text[end] == '+' ? -offset : offset;
  }
  return milliseconds;
}

/// Arguments of a call: an object, or a text with an object. Spaces of the text do not reach the prompt.
std::string argumentsText(const Json* value) {
  if (value == nullptr) return {};
  if (!value->is_string()) return dumped(*value);
  const auto& text = value->get_ref<const std::string&>();
  if (const Json inner = parsed(text); inner.is_object()) return dumped(inner);
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
  parts.push_back({.kind = Part::Kind::Image, .text = hash128(dumped(image)).hex()});
}

std::string joinedTexts(const Json& value);

/// Adds a block of a content list. Results of tools become messages of their own.
void addBlock(const Json& block, std::vector<Part>& parts, std::vector<Message>& results) {
  if (block.is_string()) return addText(parts, Part::Kind::Text, block.get<std::string>());
  const std::string type = textOf(find(block, "type"));
  const Json* text = find(block, "text", "content", "refusal");
  if (type == "text" || type == "input_text" || type == "output_text" || type == "refusal" ||
      type == "summary_text" || (type.empty() && text != nullptr)) {
    if (text != nullptr) addText(parts, Part::Kind::Text, joinedTexts(*text));
  } else if (type == "thinking" || type == "reasoning" || type == "redacted_thinking" ||
             type == "reasoning_text") {
    const Json* thought = find(block, "thinking", "text", "content", "reasoning", "summary", "data");
    if (thought != nullptr) addText(parts, Part::Kind::Reasoning, joinedTexts(*thought));
  } else if (type == "tool_use" || type == "tool_call" || type == "function_call" ||
             type == "custom_tool_call" || type == "local_shell_call") {
    parts.push_back({.kind = Part::Kind::ToolCall,
                     .text = argumentsText(find(block, "input", "arguments", "action")),
                     .name = textOf(find(block, "name"))});
  } else if (type == "tool_result" || type == "tool_call_response" || type == "function_call_output" ||
             type == "custom_tool_call_output") {
    const Json* result = find(block, "content", "response", "output", "result");
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
    const Json* inner = at(block, {"source", "data"});
    if (inner == nullptr) inner = text;
    const bool isText =
        inner != nullptr && inner->is_string() && textOf(at(block, {"source", "type"})) != "base64";
    if (isText) {
      addText(parts, Part::Kind::Text, inner->get<std::string>());
    } else {
      addImage(parts, block);
    }
  } else if (const Json* image = find(block, "image_url", "source", "image", "input_audio", "blob", "uri")) {
    addImage(parts, *image);
  } else {
    // An unknown block still changes the prompt.
    addText(parts, Part::Kind::Text, dumped(block));
  }
}

std::string joinedTexts(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return dumped(value);
  std::vector<Part> parts;
  std::vector<Message> results;
  for (const Json& block : value) addBlock(block, parts, results);
  std::string text;
  for (const Part& part : parts) text += part.text;
  return text;
}

std::string roleOf(const Json& message) {
  std::string role = textOf(find(message, "role"));
  if (role == "developer") return "system";
  if (role == "function") return "tool";
  if (role == "model" || role == "ai") return "assistant";
  if (role == "human") return "user";
  return role;
}

void addToolCalls(const Json* calls, std::vector<Part>& parts) {
  if (calls == nullptr || !calls->is_array()) return;
  for (const Json& call : *calls) {
    const Json* function = find(call, "function");
    const Json& named = function == nullptr ? call : *function;
    parts.push_back({.kind = Part::Kind::ToolCall,
                     .text = argumentsText(find(named, "arguments", "input", "args")),
                     .name = textOf(find(named, "name"))});
  }
}

/// Adds a message, or an item of OpenAI's responses.
void addMessage(const Json& message, std::vector<Message>& messages) {
  if (message.is_string()) {
    messages.push_back(
        {.role = "user", .parts = {{.kind = Part::Kind::Text, .text = message.get<std::string>()}}});
    return;
  }
  if (!message.is_object()) return;
  const std::string type = textOf(find(message, "type"));
  Message made{.role = roleOf(message)};
  std::vector<Message> results;
  if (made.role.empty() && !type.empty() && type != "message") {
    addBlock(message, made.parts, results);
    made.role = "assistant";
  } else {
    if (const Json* thought = find(message, "reasoning_content", "reasoning", "thinking"))
      addText(made.parts, Part::Kind::Reasoning, joinedTexts(*thought));
    const bool isTool = made.role == "tool";
    if (const Json* content = find(message, "content", "parts")) {
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
    if (const Json* images = find(message, "images"); images != nullptr && images->is_array())
      for (const Json& image : *images) addImage(made.parts, image);
    addToolCalls(find(message, "tool_calls"), made.parts);
    if (const Json* call = find(message, "function_call"))
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
    for (const Json& message : *list) addMessage(message, messages);
  } else {
    addMessage(*list, messages);
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
    const Json* function = find(tool, "function");
    const Json& named = function != nullptr && function->is_object() ? *function : tool;
    const Json* parameters = find(named, "parameters", "input_schema");
    std::string name = textOf(find(named, "name"));
    if (name.empty()) name = textOf(find(tool, "type"));
    list.push_back({name, toolText(name, textOf(find(named, "description")),
                                   parameters == nullptr ? std::string() : dumped(*parameters))});
  }
}

// --- Answers

struct AnswerReading {
  Message message{.role = "assistant"};
  Usage usage{};
  std::string model{};
  std::string id{};      ///< of a response that later requests can continue
  std::string server{};  ///< the kind of server, if only one kind answers like this
  bool isFound = false;
};

/// Takes facts of a response, or of an event of a stream.
void readAnswerFacts(const Json& response, AnswerReading& answer) {
  if (std::string model = textOf(find(response, "model")); !model.empty()) answer.model = std::move(model);
  if (textOf(find(response, "object")) == "response") answer.id = textOf(find(response, "id"));
  if (at(response, {"timings", "cache_n"}) != nullptr) answer.server = "llama.cpp";
}

void readUsage(const Json* usage, Usage& result) {
  if (usage == nullptr || !usage->is_object()) return;
  const auto take = [](std::optional<std::int64_t>& target, std::optional<std::int64_t> value) {
    if (value) target = value;
  };
  take(result.answer, countOf(find(*usage, "completion_tokens", "output_tokens", "eval_count")));
  if (const Json* read = find(*usage, "cache_read_input_tokens")) {
    // Anthropic's input_tokens leave out cached tokens.
    const std::int64_t cached = countOf(read).value_or(0);
    const std::int64_t written = countOf(find(*usage, "cache_creation_input_tokens")).value_or(0);
    result.cached = cached;
    if (const auto input = countOf(find(*usage, "input_tokens"))) result.prompt = *input + cached + written;
    return;
  }
  take(result.prompt, countOf(find(*usage, "prompt_tokens", "input_tokens", "prompt_eval_count")));
  const Json* cached = at(*usage, {"prompt_tokens_details", "cached_tokens"});
  if (cached == nullptr) cached = at(*usage, {"input_tokens_details", "cached_tokens"});
  if (cached == nullptr)
    cached = find(*usage, "cached_input_tokens", "prompt_cache_hit_tokens", "prompt_eval_cached_count",
                  "cached_tokens");
  take(result.cached, countOf(cached));
}

void addAnswerParts(const Json& message, AnswerReading& answer) {
  std::vector<Message> read;
  addMessage(message, read);
  for (Message& one : read) {
    for (Part& part : one.parts) answer.message.parts.push_back(std::move(part));
    answer.isFound = true;
  }
}

void readAnswer(const Json& response, AnswerReading& answer, int depth = 0);

/// Puts the pieces of a streamed answer together.
class StreamedAnswer {
 public:
  explicit StreamedAnswer(AnswerReading& answer) : m_answer(answer) {}

  void event(const Json& event) {
    const std::string type = textOf(find(event, "type"));
    readAnswerFacts(event, m_answer);
    if (const Json* usage = find(event, "usage")) readUsage(usage, m_answer.usage);
    if (const Json* message = find(event, "message"); type == "message_start" && message != nullptr) {
      readUsage(find(*message, "usage"), m_answer.usage);
      readAnswerFacts(*message, m_answer);
    }
    if (const Json* whole = find(event, "response"); type == "response.completed" && whole != nullptr) {
      readAnswer(*whole, m_answer);
      m_isWhole = true;
      return;
    }
    if (const Json* timings = find(event, "timings")) readTimings(*timings);
    if (find(event, "prompt_eval_count") != nullptr) readUsage(&event, m_answer.usage);
    if (const Json* choices = find(event, "choices");
        choices != nullptr && choices->is_array() && !choices->empty()) {
      const Json& choice = choices->front();
      if (const Json* delta = find(choice, "delta")) {
        m_reasoning += textOf(find(*delta, "reasoning_content", "reasoning"));
        m_text += textOf(find(*delta, "content"));
        if (const Json* calls = find(*delta, "tool_calls"); calls != nullptr && calls->is_array())
          for (const Json& call : *calls) addCall(call);
        m_answer.isFound = true;
      }
      m_text += textOf(find(choice, "text"));
    } else if (type == "content_block_start") {
      const Json* block = find(event, "content_block");
      if (block != nullptr && textOf(find(*block, "type")) == "tool_use")
        m_calls[countOf(find(event, "index")).value_or(0)].first = textOf(find(*block, "name"));
      m_answer.isFound = true;
    } else if (type == "content_block_delta") {
      if (const Json* delta = find(event, "delta")) {
        m_text += textOf(find(*delta, "text"));
        m_reasoning += textOf(find(*delta, "thinking"));
        if (const Json* piece = find(*delta, "partial_json"))
          m_calls[countOf(find(event, "index")).value_or(0)].second += textOf(piece);
      }
    } else if (type == "response.output_text.delta") {
      m_text += textOf(find(event, "delta"));
    } else if (const Json* message = find(event, "message"); type.empty() && message != nullptr) {
      m_text += textOf(find(*message, "content"));
      m_reasoning += textOf(find(*message, "thinking"));
      addToolCalls(find(*message, "tool_calls"), m_whole);
      m_answer.isFound = true;
    } else if (const Json* piece = find(event, "response"); piece != nullptr && piece->is_string()) {
      m_text += piece->get<std::string>();
      m_answer.isFound = true;
    }
  }

  void readTimings(const Json& timings) {
    const auto cached = countOf(find(timings, "cache_n"));
    const auto computed = countOf(find(timings, "prompt_n"));
    if (!cached) return;
    m_answer.usage.cached = cached;
    if (computed) m_answer.usage.prompt = *cached + *computed;
  }

  void finish() {
    if (m_isWhole) return;
    std::vector<Part>& parts = m_answer.message.parts;
    addText(parts, Part::Kind::Reasoning, std::move(m_reasoning));
    addText(parts, Part::Kind::Text, std::move(m_text));
    for (Part& part : m_whole) parts.push_back(std::move(part));
    for (auto& [index, call] : m_calls) {
      const Json text(call.second);
      parts.push_back({.kind = Part::Kind::ToolCall, .text = argumentsText(&text), .name = call.first});
    }
    m_answer.isFound = m_answer.isFound || !parts.empty();
  }

 private:
  void addCall(const Json& call) {
    auto& [name, arguments] = m_calls[countOf(find(call, "index")).value_or(0)];
    if (const Json* function = find(call, "function")) {
      name += textOf(find(*function, "name"));
      arguments += textOf(find(*function, "arguments"));
    }
  }

  AnswerReading& m_answer;
  std::string m_text;
  std::string m_reasoning;
  std::map<std::int64_t, std::pair<std::string, std::string>> m_calls;
  std::vector<Part> m_whole;
  bool m_isWhole = false;
};

/// Reads a response that is a text: JSON, server-sent events, or JSON lines.
void readAnswerText(const std::string& text, AnswerReading& answer, int depth) {
  const std::string_view body = trimmed(text);
  if (body.empty()) return;
  if (body.front() == '{' || body.front() == '[') {
    if (const Json whole = parsed(body); !whole.is_discarded()) return readAnswer(whole, answer, depth + 1);
  }
  StreamedAnswer stream(answer);
  bool isStream = false;
  for (std::string_view line : splitAt(body, '\n')) {
    line = trimmed(line);
    if (line.starts_with("data:")) line = trimmed(line.substr(5));
    if (line.empty() || line.front() != '{') continue;
    if (const Json event = parsed(line); event.is_object()) {
      stream.event(event);
      isStream = true;
    }
  }
  if (isStream) return stream.finish();
  addText(answer.message.parts, Part::Kind::Text, std::string(body));
  answer.isFound = true;
}

void readAnswer(const Json& response, AnswerReading& answer, int depth) {
  if (depth > kMostWrappers) return;
  if (response.is_string()) return readAnswerText(response.get<std::string>(), answer, depth);
  if (response.is_array()) {
    if (response.empty()) return;
    const Json& first = response.front();
    // Chunks of a stream, or the messages of an answer.
    if (find(first, "choices") != nullptr || find(first, "type") != nullptr ||
        find(first, "done") != nullptr) {
      StreamedAnswer stream(answer);
      for (const Json& event : response)
        if (event.is_object()) stream.event(event);
      stream.finish();
      if (!answer.message.parts.empty()) return;
    }
    for (const Json& message : response) addAnswerParts(message, answer);
    return;
  }
  if (!response.is_object()) return;
  readAnswerFacts(response, answer);
  if (const Json* usage = find(response, "usage")) readUsage(usage, answer.usage);
  if (find(response, "prompt_eval_count", "eval_count") != nullptr) readUsage(&response, answer.usage);
  if (const Json* timings = find(response, "timings")) StreamedAnswer(answer).readTimings(*timings);
  const Json* choices = find(response, "choices");
  const Json* output = find(response, "output");
  const Json* content = find(response, "content");
  const Json* message = find(response, "message");
  if (choices != nullptr && choices->is_array() && !choices->empty()) {
    const Json& choice = choices->front();
    if (const Json* inner = find(choice, "message")) {
      addAnswerParts(*inner, answer);
    } else if (const Json* text = find(choice, "text")) {
      addText(answer.message.parts, Part::Kind::Text, textOf(text));
      answer.isFound = true;
    }
  } else if (output != nullptr && output->is_array()) {
    for (const Json& item : *output) addAnswerParts(item, answer);
  } else if (content != nullptr && find(response, "role") != nullptr) {
    addAnswerParts(response, answer);
  } else if (message != nullptr && message->is_object()) {
    addAnswerParts(*message, answer);
  } else if (const Json* inner =
                 find(response, "body", "json", "data", "response", "text", "content", "result")) {
    readAnswer(*inner, answer, depth + 1);
  }
}

// --- Requests

void readPrompt(const Json& prompt, LoggedRequest& request) {
  if (prompt.is_string()) {
    request.messages.push_back(
        {.role = kRawRole, .parts = {{.kind = Part::Kind::Text, .text = prompt.get<std::string>()}}});
    return;
  }
  if (!prompt.is_array() || prompt.empty()) return;
  if (prompt.front().is_string() || prompt.front().is_array()) return readPrompt(prompt.front(), request);
  for (const Json& id : prompt) {
    const auto number = countOf(&id);
    if (!id.is_number_integer() || !number || *number > std::numeric_limits<TokenId>::max()) {
      request.ids.clear();
      return;
    }
    request.ids.push_back(static_cast<TokenId>(*number));
  }
}

void readBody(const Json& body, LoggedRequest& request) {
  request.model = textOf(find(body, "model"));
  request.salt = textOf(find(body, "cache_salt"));
  request.adapter = textOf(find(body, "lora", "adapter", "lora_name"));
  if (request.adapter.empty())
    if (const Json* lora = find(body, "lora"); lora != nullptr) request.adapter = dumped(*lora);
  if (request.replica = textOf(find(body, "id_slot")); request.replica == "-1") request.replica.clear();
  for (const Json* options : {&body, find(body, "model_parameters", "optional_params", "extra_body")}) {
    if (options == nullptr) continue;
    if (request.salt.empty()) request.salt = textOf(find(*options, "cache_salt"));
    if (request.tools.empty()) addTools(find(*options, "tools", "functions"), request.tools);
  }
  const Json* messages = find(body, "messages");
  const Json* input = find(body, "input");
  const Json* prompt = find(body, "prompt");
  if (messages != nullptr && messages->is_array()) {
    addMessages(messages, request.messages);
  } else if (input != nullptr) {
    addMessages(input, request.messages);
    request.previous = textOf(find(body, "previous_response_id"));
    const Json* kept = find(body, "conversation");
    if (request.previous.empty() && kept != nullptr)
      request.previous = kept->is_object() ? textOf(find(*kept, "id")) : textOf(kept);
  } else if (prompt != nullptr) {
    readPrompt(*prompt, request);
    // Ollama puts the prompt of /api/generate into the chat template, except in raw mode.
    const Json* raw = find(body, "raw");
    const bool isOllama =
        find(body, "system", "options", "keep_alive", "template", "images", "context") != nullptr &&
        (raw == nullptr || *raw != Json(true));
    if (isOllama && !request.messages.empty()) request.messages.front().role = "user";
    if (const Json* images = find(body, "images");
        images != nullptr && images->is_array() && !request.messages.empty())
      for (const Json& image : *images) addImage(request.messages.front().parts, image);
  }
  const Json* system = find(body, "system", "instructions");
  addSystem(system, request.messages);
  request.hasInstructions = system != nullptr && !request.messages.empty();
}

bool isBody(const Json& value) {
  if (!value.is_object()) return false;
  const Json* messages = find(value, "messages");
  if (messages != nullptr && messages->is_array() && !messages->empty()) return true;
  const Json* prompt = find(value, "prompt");
  if (prompt != nullptr && (prompt->is_string() || (prompt->is_array() && !prompt->empty()))) return true;
  const Json* input = find(value, "input");
  const bool hasModel = find(value, "model", "instructions") != nullptr;
  return input != nullptr && hasModel && find(value, "output", "object") == nullptr &&
         (input->is_string() || (input->is_array() && !input->empty() && input->front().is_object()));
}

/// Finds the body of a request inside of the usual wrappers. Bodies that are texts are kept in `held`.
const Json* bodyIn(const Json& value, std::deque<Json>& held, int depth = 0) {
  if (depth > kMostWrappers) return nullptr;
  if (value.is_string()) {
    const std::string_view text = trimmed(value.get_ref<const std::string&>());
    if (!text.starts_with('{')) return nullptr;
    held.push_back(parsed(text));
    return bodyIn(held.back(), held, depth + 1);
  }
  if (isBody(value)) return &value;
  for (const std::string_view name :
       {"request", "req", "body", "requestBody", "request_body", "proxy_server_request", "kwargs", "payload",
        "json", "data", "input", "postData", "text", "params", "event"}) {
    const Json* inner = find(value, name);
    if (inner == nullptr || (!inner->is_object() && !inner->is_string())) continue;
    if (const Json* body = bodyIn(*inner, held, depth + 1)) return body;
  }
  return nullptr;
}

void readFacts(const Json& record, LoggedRequest& request) {
  if (!record.is_object()) return;
  if (!request.time)
    request.time = timeOf(find(record, "time", "timestamp", "ts", "startTime", "start_time",
                               "startedDateTime", "created_at", "createdAt", "date", "created"));
  const Json* metadata = find(record, "metadata", "litellm_params");
  for (const Json* place : {&record, metadata}) {
    if (place == nullptr || !request.conversation.empty()) continue;
    request.conversation = textOf(find(*place, "session_id", "conversation_id", "thread_id", "sessionId",
                                       "conversationId", "litellm_session_id", "chat_id"));
    if (const Json* conversation = find(*place, "conversation", "session");
        request.conversation.empty() && conversation != nullptr)
      request.conversation =
          conversation->is_object() ? textOf(find(*conversation, "id")) : textOf(conversation);
  }
  if (request.model.empty()) request.model = textOf(find(record, "model"));
  if (request.replica.empty()) request.replica = textOf(find(record, "replica", "backend", "upstream"));
  if (const Json* server = find(record, "server"); server != nullptr && server->is_object()) {
    request.server.kind = textOf(find(*server, "kind"));
    const auto size = [&](const char* name, std::int64_t most) {
      return std::min(most, countOf(find(*server, name)).value_or(0));
    };
    request.server.blockSize = static_cast<std::int32_t>(size("block_size", 1 << 20));
    request.server.slots = static_cast<std::int32_t>(size("slots", 1 << 12));
    request.server.cacheTokens = size("cache_tokens", std::int64_t{1} << 30U);
  }
  if (!request.usage.prompt && !request.usage.cached) {
    readUsage(find(record, "usage"), request.usage);
    if (find(record, "prompt_tokens") != nullptr) readUsage(&record, request.usage);
  }
}

/// Returns why the server did not answer: "status 400", "an error". Empty: nothing says so. `response` may be
/// null.
std::string failureOf(const Json& record, const Json* response) {
  constexpr std::int64_t kLeastError = 400;
  constexpr std::int64_t kMostStatus = 999;
  const auto statusOf = [](const Json* place) -> const Json* {
    return place == nullptr || !place->is_object()
               ? nullptr
               : find(*place, "status", "status_code", "statusCode", "http_status", "response_status");
  };
  for (const Json* status : {statusOf(&record), statusOf(response)}) {
    if (status == nullptr) continue;
    if (const auto number = countOf(status)) {
      if (*number >= kLeastError && *number <= kMostStatus) return "status " + std::to_string(*number);
      if (*number == 0 && response == nullptr) return "no response";
      continue;
    }
    const std::string word = textOf(status);
    for (const char* failed : {"failure", "failed", "error"})
      if (word == failed) return "an error";
  }
  const Json* body = response;
  if (body != nullptr && body->is_object())
    if (const Json* inner = find(*body, "body", "json", "data"); inner != nullptr && inner->is_object())
      body = inner;
  const bool hasAnswer = body != nullptr && find(*body, "choices", "content", "output", "message") != nullptr;
  if (!hasAnswer &&
      ((body != nullptr && find(*body, "error") != nullptr) || find(record, "error") != nullptr))
    return "an error";
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
  const Json* response = find(record, "response", "res", "responseBody", "response_body", "output",
                              "completion", "result", "answer", "reply");
  // The request can be the record itself, in which these members have other meanings.
  if (&body != &record) request.failure = failureOf(record, response);
  if (response != nullptr && request.failure.empty()) readAnswer(*response, answer);
  takeAnswer(std::move(answer), request);
  readFacts(record, request);
  if (const Json* inner = find(record, "request"); inner != nullptr && inner->is_object())
    readFacts(*inner, request);
  if (&body != &record) readFacts(body, request);
  requests.push_back(std::move(request));
}

// --- HAR

std::string decodedBase64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) continue;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
    }
  }
  return bytes;
}

/// Returns whether the object is an entry of a HAR file.
bool readHarEntry(const Json& entry, std::vector<LoggedRequest>& requests) {
  const Json* text = at(entry, {"request", "postData", "text"});
  if (at(entry, {"request", "url"}) == nullptr || at(entry, {"request", "method"}) == nullptr) return false;
  // Pages and pictures of the same recording are no requests of a model.
  if (text == nullptr || !text->is_string()) return true;
  const Json body = parsed(trimmed(text->get_ref<const std::string&>()));
  if (!isBody(body)) return true;
  LoggedRequest request;
  readBody(body, request);
  AnswerReading answer;
  if (const Json* content = at(entry, {"response", "content", "text"});
      content != nullptr && content->is_string()) {
    const bool isBase64 = textOf(at(entry, {"response", "content", "encoding"})) == "base64";
    const auto& stored = content->get_ref<const std::string&>();
    readAnswerText(isBase64 ? decodedBase64(stored) : stored, answer, 0);
  }
  if (const Json* response = find(entry, "response")) {
    request.failure = failureOf(entry, response);
    const auto status = countOf(find(*response, "status"));
    if (status && *status == 0) request.failure = "no response";  // the recorder's number for this case
  }
  if (request.failure.empty()) takeAnswer(std::move(answer), request);
  readFacts(entry, request);
  readFacts(body, request);
  requests.push_back(std::move(request));
  return true;
}

// --- OpenTelemetry

/// The value of an attribute of OTLP, or a plain value.
Json attributeValue(const Json& value) {
  if (!value.is_object()) return value;
  for (const char* name : {"stringValue", "string_value", "intValue", "int_value", "doubleValue",
                           "double_value", "boolValue", "bool_value"})
    if (const Json* plain = find(value, name)) return *plain;
  if (const Json* list = find(value, "arrayValue", "array_value"); list != nullptr) {
    Json values = Json::array();
    if (const Json* inner = find(*list, "values"); inner != nullptr && inner->is_array())
      for (const Json& one : *inner) values.push_back(attributeValue(one));
    return values;
  }
  if (const Json* list = find(value, "kvlistValue", "kvlist_value"); list != nullptr) {
    Json object = Json::object();
    if (const Json* inner = find(*list, "values"); inner != nullptr && inner->is_array()) {
      for (const Json& one : *inner) {
        const Json* member = find(one, "value");
        if (member != nullptr) object[textOf(find(one, "key"))] = attributeValue(*member);
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
      const Json* value = find(one, "value");
      if (value != nullptr) attributes[textOf(find(one, "key"))] = attributeValue(*value);
    }
  }
  return attributes;
}

/// An attribute can hold JSON as a text.
Json structured(const Json* value) {
  if (value == nullptr) return {};
  if (!value->is_string()) return *value;
  Json inner = parsed(value->get_ref<const std::string&>());
  return inner.is_discarded() ? *value : inner;
}

/// Messages as numbered attributes: "gen_ai.prompt.0.role".
void addNumbered(const Json& attributes, const std::string& before, const std::string& between,
                 std::vector<Message>& messages) {
  for (std::size_t i = 0; i < kMaxMembers; ++i) {
    const std::string name = before + std::to_string(i) + "." + between;
    const Json* role = find(attributes, name + "role");
    const Json* content = find(attributes, name + "content");
    if (role == nullptr && content == nullptr) return;
    Json message{{"role", textOf(role)}};
    if (content != nullptr) message["content"] = *content;
    addMessage(message, messages);
  }
}

/// Returns whether the object is a span.
bool readSpan(const Json& span, std::vector<LoggedRequest>& requests) {
  const Json* list = find(span, "attributes");
  if (list == nullptr ||
      find(span, "spanId", "span_id", "traceId", "trace_id", "context", "startTimeUnixNano") == nullptr)
    return false;
  const Json attributes = attributesOf(list);
  LoggedRequest request;
  request.model = textOf(find(attributes, "gen_ai.request.model", "gen_ai.response.model", "llm.model_name"));
  request.answeredModel = textOf(find(attributes, "gen_ai.response.model"));
  const auto status = countOf(find(attributes, "http.response.status_code"));
  const bool hasUsage =
      find(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens") != nullptr;
  if (status && *status >= 400)
    request.failure = "status " + std::to_string(*status);
  else if (find(attributes, "error.type") != nullptr && !hasUsage)
    request.failure = "an error";
  request.conversation = textOf(find(attributes, "gen_ai.conversation.id", "session.id"));
  request.time = timeOf(find(span, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"));
  request.usage.prompt = countOf(
      find(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"));
  request.usage.cached =
      countOf(find(attributes, "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
                   "gen_ai.usage.input_tokens.cached", "gen_ai.usage.cached_tokens",
                   "llm.token_count.prompt_details.cache_read"));
  request.usage.answer =
      countOf(find(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"));
  Json input = structured(find(attributes, "gen_ai.input.messages", "gen_ai.prompt", "input.value"));
  Json output = structured(find(attributes, "gen_ai.output.messages", "gen_ai.completion", "output.value"));
  Json system = structured(find(attributes, "gen_ai.system_instructions", "gen_ai.system.instructions"));
  const Json tools =
      structured(find(attributes, "gen_ai.tool.definitions", "gen_ai.request.tools", "llm.tools"));
  AnswerReading answer;
  if (input.is_array()) addMessages(&input, request.messages);
  if (isBody(input)) readBody(input, request);
  if (input.is_string()) addMessage(input, request.messages);
  addNumbered(attributes, "gen_ai.prompt.", "", request.messages);
  addNumbered(attributes, "llm.input_messages.", "message.", request.messages);
  std::vector<Message> said;
  addNumbered(attributes, "gen_ai.completion.", "", said);
  addNumbered(attributes, "llm.output_messages.", "message.", said);
  if (const Json* events = find(span, "events"); events != nullptr && events->is_array()) {
    for (const Json& event : *events) {
      const std::string name = textOf(find(event, "name"));
      Json members = attributesOf(find(event, "attributes"));
      if (const Json* body = find(event, "body")) members = attributeValue(*body);
      if (const Json* inner = find(members, "gen_ai.input.messages");
          inner != nullptr && request.messages.empty()) {
        const Json messages = structured(inner);
        addMessages(&messages, request.messages);
      }
      if (const Json* inner = find(members, "gen_ai.system_instructions");
          inner != nullptr && system.is_null())
        system = structured(inner);
      if (const Json* inner = find(members, "gen_ai.output.messages"); inner != nullptr && output.is_null())
        output = structured(inner);
      if (name == "gen_ai.choice") {
        const Json message = structured(find(members, "message"));
        addMessage(message.is_object() ? message : members, said);
      } else if (name.starts_with("gen_ai.") && name.ends_with(".message")) {
        if (find(members, "role") == nullptr) members["role"] = name.substr(7, name.size() - 7 - 8);
        for (const char* member : {"content", "tool_calls"})
          if (const Json* inner = find(members, member); inner != nullptr && inner->is_string()) {
            Json blocks = structured(inner);
            if (blocks.is_array()) members[member] = std::move(blocks);
          }
        addMessage(members, request.messages);
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

// --- Records

void readRecord(const Json& record, std::vector<LoggedRequest>& requests, int depth = 0) {
  if (depth > kMostWrappers || requests.size() >= kMostRequests) return;
  const auto each = [&](const Json* list) {
    if (list == nullptr || !list->is_array()) return false;
    for (const Json& one : *list) readRecord(one, requests, depth + 1);
    return true;
  };
  if (record.is_array()) {
    each(&record);
    return;
  }
  if (!record.is_object()) return;
  for (const Json* list : {at(record, {"log", "entries"}), find(record, "resourceSpans", "resource_spans"),
                           find(record, "scopeSpans", "scope_spans"), find(record, "spans")})
    if (each(list)) return;
  if (readHarEntry(record, requests) || readSpan(record, requests)) return;
  std::deque<Json> held;
  if (const Json* body = bodyIn(record, held)) return addRequest(record, *body, requests);
  for (const char* name : {"entries", "requests", "records", "logs", "data"})
    if (each(find(record, name))) return;
}

// --- curl

/// Splits a command into words as a POSIX shell does.
std::vector<std::string> shellWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool hasWord = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\') {
      ++i;
      if (i < text.size() && text[i] != '\n') {
        word += text[i];
        hasWord = true;
      }
    } else if (c == '\'' || c == '"') {
      const bool isAnsi = c == '\'' && i > 0 && text[i - 1] == '$' && word.ends_with('$');
      if (isAnsi) word.pop_back();
      hasWord = true;
      for (++i; i < text.size() && text[i] != c; ++i) {
        if (text[i] == '\\' && (c == '"' || isAnsi) && i + 1 < text.size()) {
          const char next = text[++i];
          if (isAnsi) {
            word += next == 'n' ? '\n' : next == 't' ? '\t' : next;
          } else if (next != '\n') {
            if (std::string_view("$`\"\\").find(next) == std::string_view::npos) word += '\\';
            word += next;
          }
        } else {
          word += text[i];
        }
      }
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (hasWord) words.push_back(std::exchange(word, {}));
      hasWord = false;
    } else {
      word += c;
      hasWord = true;
    }
  }
  if (hasWord) words.push_back(std::move(word));
  return words;
}

std::string readCurl(std::string_view text, std::vector<LoggedRequest>& requests) {
  const std::vector<std::string> words = shellWords(text);
  std::string body;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view option :
         {"--data-raw", "--data-binary", "--data-ascii", "--data", "--json", "-d"}) {
      if (words[i] == option && i + 1 < words.size()) {
        body += words[++i];
        break;
      }
      const bool isJoined = option.starts_with("--") ? words[i].starts_with(std::string(option) + "=")
                                                     : words[i].starts_with(option) && words[i].size() > 2;
      if (isJoined) {
        body += words[i].substr(option.size() + (option.starts_with("--") ? 1 : 0));
        break;
      }
    }
  }
  if (body.starts_with('@')) return "a curl command with its body in another file";
  const Json json = parsed(trimmed(body));
  if (!isBody(json)) return "a curl command without a request to a model";
  addRequest(json, json, requests);
  return {};
}

}  // namespace

const nlohmann::ordered_json* memberOf(const nlohmann::ordered_json& object, std::string_view name) {
  return find(object, name);
}

std::string textOfJson(const nlohmann::ordered_json* value) {
  return textOf(value);
}

std::optional<std::int64_t> timeOfJson(const nlohmann::ordered_json* value) {
  return timeOf(value);
}

void addLoggedMessage(const nlohmann::ordered_json& message, std::vector<Message>& messages) {
  addMessage(message, messages);
}

void readLoggedUsage(const nlohmann::ordered_json& usage, Usage& result) {
  readUsage(&usage, result);
}

nlohmann::ordered_json parseWithinLimits(std::string_view text) {
  return parsed(text);
}

std::string toolText(const std::string& name, std::string_view description, std::string_view parameters) {
  std::string text = "{\"name\":" + dumped(Json(name));
  if (!description.empty()) text += ",\"description\":" + dumped(Json(description));
  if (!parameters.empty()) text += ",\"parameters\":" + std::string(parameters);
  return text + "}";
}

std::vector<LoggedRequest> requestsOf(std::string_view record, std::string& problem) {
  std::vector<LoggedRequest> requests;
  std::string_view text = trimmed(record);
  std::string_view command = text;
  if (command.starts_with("$ ")) command.remove_prefix(2);
  if (command.starts_with("curl ") || command.starts_with("curl\t")) {
    problem = readCurl(command, requests);
  } else {
    problem = faultOfShape(text);
    if (!problem.empty()) return requests;
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
      problem = "text that is not JSON";
      return requests;
    }
    readRecord(json, requests);
    if (requests.empty() && at(json, {"log", "entries"}) == nullptr && find(json, "attributes") == nullptr &&
        find(json, "resourceSpans", "resource_spans") == nullptr && at(json, {"request", "url"}) == nullptr)
      problem = "no request to a model";
  }
  // A request without any text has no prompt to compare.
  std::erase_if(requests,
                [](const LoggedRequest& request) { return request.messages.empty() && request.ids.empty(); });
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].place.part = static_cast<std::uint32_t>(i);
  return requests;
}

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
    Json made{{"role", message.role == kRawRole ? "user" : message.role}};
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
  return dumped(line);
}

}  // namespace spanscope::doctor
