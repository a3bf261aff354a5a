// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/doctor/records/answers.h"

#include "engine/base/utf8.h"
#include "engine/doctor/records/messages.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::doctor {
namespace {

/// Takes facts of a response, or of an event of a stream.
void readAnswerFacts(const Json& response, AnswerReading& answer) {
  if (std::string model = textOfJson(memberOf(response, "model")); !model.empty())
    answer.model = std::move(model);
  if (textOfJson(memberOf(response, "object")) == "response")
    answer.id = textOfJson(memberOf(response, "id"));
  if (memberAt(response, {"timings", "cache_n"}) != nullptr) answer.server = "llama.cpp";
}

void addAnswerParts(const Json& message, AnswerReading& answer) {
  std::vector<Message> read;
  addLoggedMessage(message, read);
  for (Message& one : read) {
    for (Part& part : one.parts) answer.message.parts.push_back(std::move(part));
    answer.isFound = true;
  }
}

/// Puts the pieces of a streamed answer together.
class StreamedAnswer {
 public:
  explicit StreamedAnswer(AnswerReading& answer) : m_answer(answer) {}

  void event(const Json& event) {
    const std::string type = textOfJson(memberOf(event, "type"));
    readAnswerFacts(event, m_answer);
    if (const Json* usage = memberOf(event, "usage")) readLoggedUsage(usage, m_answer.usage);
    if (const Json* message = memberOf(event, "message"); type == "message_start" && message != nullptr) {
      readLoggedUsage(memberOf(*message, "usage"), m_answer.usage);
      readAnswerFacts(*message, m_answer);
    }
    if (const Json* whole = memberOf(event, "response"); type == "response.completed" && whole != nullptr) {
      readAnswer(*whole, m_answer);
      m_isWhole = true;
      return;
    }
    if (const Json* timings = memberOf(event, "timings")) readTimings(*timings);
    if (memberOf(event, "prompt_eval_count") != nullptr) readLoggedUsage(&event, m_answer.usage);
    if (const Json* choices = memberOf(event, "choices");
        choices != nullptr && choices->is_array() && !choices->empty()) {
      const Json& choice = choices->front();
      if (const Json* delta = memberOf(choice, "delta")) {
        m_reasoning += textOfJson(memberOf(*delta, "reasoning_content", "reasoning"));
        m_text += textOfJson(memberOf(*delta, "content"));
        if (const Json* calls = memberOf(*delta, "tool_calls"); calls != nullptr && calls->is_array())
          for (const Json& call : *calls) addCall(call);
        m_answer.isFound = true;
      }
      m_text += textOfJson(memberOf(choice, "text"));
    } else if (type == "content_block_start") {
      const Json* block = memberOf(event, "content_block");
      if (block != nullptr && textOfJson(memberOf(*block, "type")) == "tool_use")
        m_calls[countOfJson(memberOf(event, "index")).value_or(0)].first =
            textOfJson(memberOf(*block, "name"));
      m_answer.isFound = true;
    } else if (type == "content_block_delta") {
      if (const Json* delta = memberOf(event, "delta")) {
        m_text += textOfJson(memberOf(*delta, "text"));
        m_reasoning += textOfJson(memberOf(*delta, "thinking"));
        if (const Json* piece = memberOf(*delta, "partial_json"))
          m_calls[countOfJson(memberOf(event, "index")).value_or(0)].second += textOfJson(piece);
      }
    } else if (type == "response.output_text.delta") {
      m_text += textOfJson(memberOf(event, "delta"));
    } else if (const Json* message = memberOf(event, "message"); type.empty() && message != nullptr) {
      m_text += textOfJson(memberOf(*message, "content"));
      m_reasoning += textOfJson(memberOf(*message, "thinking"));
      addToolCalls(memberOf(*message, "tool_calls"), m_whole);
      m_answer.isFound = true;
    } else if (const Json* piece = memberOf(event, "response"); piece != nullptr && piece->is_string()) {
      m_text += piece->get<std::string>();
      m_answer.isFound = true;
    }
  }

  void readTimings(const Json& timings) {
    const auto cached = countOfJson(memberOf(timings, "cache_n"));
    const auto computed = countOfJson(memberOf(timings, "prompt_n"));
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
    auto& [name, arguments] = m_calls[countOfJson(memberOf(call, "index")).value_or(0)];
    if (const Json* function = memberOf(call, "function")) {
      name += textOfJson(memberOf(*function, "name"));
      arguments += textOfJson(memberOf(*function, "arguments"));
    }
  }

  AnswerReading& m_answer;
  std::string m_text;
  std::string m_reasoning;
  std::map<std::int64_t, std::pair<std::string, std::string>> m_calls;
  std::vector<Part> m_whole;
  bool m_isWhole = false;
};

}  // namespace

void readLoggedUsage(const Json* usage, Usage& result) {
  if (usage == nullptr || !usage->is_object()) return;
  const auto take = [](std::optional<std::int64_t>& target, std::optional<std::int64_t> value) {
    if (value) target = value;
  };
  take(result.answer, countOfJson(memberOf(*usage, "completion_tokens", "output_tokens", "eval_count")));
  if (const Json* read = memberOf(*usage, "cache_read_input_tokens")) {
    // Anthropic's input_tokens leave out cached tokens.
    const std::int64_t cached = countOfJson(read).value_or(0);
    const std::int64_t written = countOfJson(memberOf(*usage, "cache_creation_input_tokens")).value_or(0);
    result.cached = cached;
    if (const auto input = countOfJson(memberOf(*usage, "input_tokens")))
      result.prompt = *input + cached + written;
    return;
  }
  take(result.prompt, countOfJson(memberOf(*usage, "prompt_tokens", "input_tokens", "prompt_eval_count")));
  const Json* cached = memberAt(*usage, {"prompt_tokens_details", "cached_tokens"});
  if (cached == nullptr) cached = memberAt(*usage, {"input_tokens_details", "cached_tokens"});
  if (cached == nullptr)
    cached = memberOf(*usage, "cached_input_tokens", "prompt_cache_hit_tokens", "prompt_eval_cached_count",
                      "cached_tokens");
  take(result.cached, countOfJson(cached));
}

void readAnswerText(const std::string& text, AnswerReading& answer, int depth) {
  const std::string_view body = trimmed(text);
  if (body.empty()) return;
  if (body.front() == '{' || body.front() == '[') {
    if (const Json whole = parseWithinLimits(body); !whole.is_discarded())
      return readAnswer(whole, answer, depth + 1);
  }
  StreamedAnswer stream(answer);
  bool isStream = false;
  for (std::string_view line : splitAt(body, '\n')) {
    line = trimmed(line);
    if (line.starts_with("data:")) line = trimmed(line.substr(5));
    if (line.empty() || line.front() != '{') continue;
    if (const Json event = parseWithinLimits(line); event.is_object()) {
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
    if (memberOf(first, "choices") != nullptr || memberOf(first, "type") != nullptr ||
        memberOf(first, "done") != nullptr) {
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
  if (const Json* usage = memberOf(response, "usage")) readLoggedUsage(usage, answer.usage);
  if (memberOf(response, "prompt_eval_count", "eval_count") != nullptr)
    readLoggedUsage(&response, answer.usage);
  if (const Json* timings = memberOf(response, "timings")) StreamedAnswer(answer).readTimings(*timings);
  const Json* choices = memberOf(response, "choices");
  const Json* output = memberOf(response, "output");
  const Json* content = memberOf(response, "content");
  const Json* message = memberOf(response, "message");
  if (choices != nullptr && choices->is_array() && !choices->empty()) {
    const Json& choice = choices->front();
    if (const Json* inner = memberOf(choice, "message")) {
      addAnswerParts(*inner, answer);
    } else if (const Json* text = memberOf(choice, "text")) {
      addText(answer.message.parts, Part::Kind::Text, textOfJson(text));
      answer.isFound = true;
    }
  } else if (output != nullptr && output->is_array()) {
    for (const Json& item : *output) addAnswerParts(item, answer);
  } else if (content != nullptr && memberOf(response, "role") != nullptr) {
    addAnswerParts(response, answer);
  } else if (message != nullptr && message->is_object()) {
    addAnswerParts(*message, answer);
  } else if (const Json* inner =
                 memberOf(response, "body", "json", "data", "response", "text", "content", "result")) {
    readAnswer(*inner, answer, depth + 1);
  }
}

}  // namespace spanscope::doctor
