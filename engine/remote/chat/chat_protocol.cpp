// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/chat_protocol.h"

#include "engine/base/error.h"
#include "engine/base/json_text.h"
#include "engine/base/utf8.h"
#include "engine/remote/chat/answer_json.h"
#include "engine/remote/http/http_client.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

/// The names of different servers for the number of prompt tokens from the cache.
std::optional<std::int64_t> cachedIn(const Json& usage) {
  for (const char* const details : {"prompt_tokens_details", "input_tokens_details"}) {
    const Json* object = fieldOf(usage, details);
    if (object == nullptr) continue;
    if (const auto count = countOf(*object, "cached_tokens")) return count;
  }
  for (const char* const name : {"cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"}) {
    if (const auto count = countOf(usage, name)) return count;
  }
  return std::nullopt;
}

void takeUsage(ChatAnswer& answer, const Json* usage) {
  // No prompt has 0 tokens. vLLM with the span patch writes 0 instead of unknown numbers.
  if (usage == nullptr || countOf(*usage, "prompt_tokens") == std::int64_t{0}) return;
  if (const auto count = countOf(*usage, "prompt_tokens")) answer.promptTokens = count;
  if (const auto count = countOf(*usage, "completion_tokens")) answer.generatedTokens = count;
  if (const auto count = cachedIn(*usage)) answer.cachedTokens = count;
  if (const Json* details = fieldOf(*usage, "prompt_tokens_details")) {
    for (const char* const name : {"created_cache_tokens", "cache_write_tokens"}) {
      if (const auto count = countOf(*details, name)) answer.writtenTokens = count;
    }
  }
}

void takeFacts(ChatAnswer& answer, const Json& json) {
  if (std::string model = textOf(json, "model"); !model.empty()) answer.model = std::move(model);
  if (const Json* own = fieldOf(json, "x_groq")) takeUsage(answer, fieldOf(*own, "usage"));
  takeUsage(answer, fieldOf(json, "usage"));
  // llama.cpp reports this number outside of the usage, also if a stream has no usage.
  if (const Json* timings = fieldOf(json, "timings")) {
    const auto cached = countOf(*timings, "cache_n");
    const auto computed = countOf(*timings, "prompt_n");
    if (cached && !answer.cachedTokens) answer.cachedTokens = cached;
    if (cached && computed && !answer.promptTokens) answer.promptTokens = *cached + *computed;
    if (const auto count = countOf(*timings, "predicted_n"); count && !answer.generatedTokens)
      answer.generatedTokens = count;
  }
  if (const Json* progress = fieldOf(json, "prompt_progress")) {
    const auto total = countOf(*progress, "total");
    const auto processed = countOf(*progress, "processed");
    if (total && processed) {
      answer.progress = PromptProgress{
          .total = *total, .cached = countOf(*progress, "cache").value_or(0), .processed = *processed};
    }
  }
}

/// Returns the choices that are objects. Other choices have no meaning.
std::vector<const Json*> choicesOf(const Json& json) {
  std::vector<const Json*> found;
  const Json* choices = fieldOf(json, "choices");
  if (choices == nullptr || !choices->is_array()) return found;
  for (const Json& choice : *choices) {
    if (choice.is_object()) found.push_back(&choice);
  }
  return found;
}

/// Returns the index of the answer that a choice belongs to. If one answer was requested, the index is always
/// 0.
std::size_t answerOf(const Json& choice, std::size_t answers) {
  if (answers == 1) return 0;
  const std::optional<std::int64_t> index = countOf(choice, "index");
  if (index && static_cast<std::size_t>(*index) < answers) return static_cast<std::size_t>(*index);
  throw Failure(errorAt("answer", index ? "choice " + std::to_string(*index) : "a choice without an index",
                        "an index from 0 to " + std::to_string(answers - 1)));
}

MessageParts partsOf(const Json& message) {
  MessageParts parts;
  if (!message.is_object()) {
    takeContent(parts, message, parts.text);
    return parts;
  }
  if (const Json* content = fieldOf(message, "content")) takeContent(parts, *content, parts.text);
  // One value has several names. Some servers send the value under two of these names.
  for (const char* const name : {"reasoning_content", "reasoning", "thinking"}) {
    const Json* thoughts = fieldOf(message, name);
    if (thoughts == nullptr || !parts.reasoning.empty()) continue;
    takeContent(parts, *thoughts, parts.reasoning);
  }
  parts.refusal += textOf(message, "refusal");
  if (const Json* calls = fieldOf(message, "tool_calls"); calls != nullptr && calls->is_array()) {
    for (const Json& call : *calls) {
      if (const Json* function = fieldOf(call, "function")) addName(parts.calls, textOf(*function, "name"));
    }
  }
  if (const Json* function = fieldOf(message, "function_call"))
    addName(parts.calls, textOf(*function, "name"));
  return parts;
}

/// Returns the new text. Some servers send the whole text each time, other servers only the new text.
std::string newPart(const std::string& before, const std::string& now, bool isLast) {
  const bool repeats = !before.empty() && now.starts_with(before) && (isLast || now.size() > before.size());
  return repeats ? now.substr(before.size()) : now;
}

void takeFinish(ChatAnswer& answer, const Json& choice) {
  const Json* finish = fieldOf(choice, "finish_reason");
  if (finish == nullptr) return;
  // An object is SGLang's own form.
  const std::string reason = finish->is_string() ? finish->get<std::string>() : textOf(*finish, "type");
  if (finish->is_object()) {
    if (std::string words = textOf(*finish, "message"); !words.empty()) answer.words = std::move(words);
  }
  if (!reason.empty() && reason != "null") answer.finish = shownReply(reason);
}

/// Takes a choice and returns the new text. The text of a completion is not in a message.
std::string takeChoice(ChatAnswer& answer, const Json& choice, bool isWhole) {
  if (saysSomething(fieldOf(choice, "error"))) refuseAnswer(wordsOrCode(choice));
  takeFinish(answer, choice);
  const Json* delta = fieldOf(choice, "delta");
  const Json* message = fieldOf(choice, "message");
  MessageParts parts = delta == nullptr ? MessageParts() : partsOf(*delta);
  if (parts.text.empty()) parts.text = textOf(choice, "text");
  const bool isSilent = parts.text.empty() && parts.reasoning.empty() && parts.refusal.empty();
  if (isSilent && message != nullptr) {
    const MessageParts whole = partsOf(*message);
    const bool isLast = isWhole || !answer.finish.empty();
    parts.text = newPart(answer.text, whole.text, isLast);
    parts.reasoning = newPart(answer.reasoning, whole.reasoning, isLast);
    parts.refusal = newPart(answer.refusal, whole.refusal, isLast);
    if (answer.calls.empty()) parts.calls = whole.calls;
    parts.noText = whole.noText;
    parts.lacksText = whole.lacksText;
  }
  if (answer.noText.empty()) answer.noText = parts.noText;
  answer.lacksText |= parts.lacksText;
  answer.reasoning += toValidUtf8(parts.reasoning);
  answer.refusal += parts.refusal;
  addName(answer.calls, parts.calls);
  return addText(answer, parts.text, !answer.finish.empty());
}

/// If one answer was requested, this answer is choice 0. Some servers use another index. Such a choice is
/// kept until no more data arrives.
void keepOther(ChatAnswer& answer, const Json& choice, std::int64_t index, bool isWhole) {
  if (answer.choice) return;
  if (answer.others.empty()) answer.others.emplace_back().choice = index;
  ChatAnswer& other = answer.others.front();
  if (other.choice != index) return;
  // The error of this choice does not concern choice 0, which may still arrive.
  if (saysSomething(fieldOf(choice, "error"))) {
    other.finish = "error";
    other.words = wordsOrCode(choice);
    return;
  }
  takeChoice(other, choice, isWhole);
}

/// OpenAI's chat completions and completions.
bool takeChoices(std::span<ChatAnswer> answers, const Json& json, std::vector<AnswerText>& came) {
  ChatAnswer& first = answers.front();
  takeFacts(first, json);
  const std::vector<const Json*> choices = choicesOf(json);
  if (choices.empty()) {
    const Json* list = fieldOf(json, "choices");
    first.lacksChoices |= list != nullptr && list->is_array();
    return false;
  }
  const bool isWhole = textOf(json, "object") == "chat.completion";
  for (const Json* choice : choices) {
    takeUsage(first, fieldOf(*choice, "usage"));
    const std::size_t index = answerOf(*choice, answers.size());
    const std::int64_t said = countOf(*choice, "index").value_or(0);
    if (answers.size() == 1 && said != 0) {
      keepOther(first, *choice, said, isWhole);
      continue;
    }
    answers[index].choice = said;
    std::string piece = takeChoice(answers[index], *choice, isWhole);
    if (!piece.empty()) came.push_back({index, std::move(piece)});
  }
  return true;
}

Outgoing chatOutgoing(const Sending& sending) {
  return {.body = bodyText(chatBody(sending)), .mayBeEmpty = sending.request.maxTokens == 1};
}

}  // namespace

constinit const AnswerForm kChoices{.title = "a chat completion",
                                    .api = "OpenAI's chat completions",
                                    .isOwn =
                                        [](const Json& value) {
                                          const Json* const choices = fieldOf(value, "choices");
                                          return choices != nullptr && choices->is_array();
                                        },
                                    .take = &takeChoices};

nlohmann::ordered_json chatBody(const Sending& sending) {
  exports::ChatRequest request = sending.request;
  request.model = sending.model;
  nlohmann::ordered_json body = nlohmann::ordered_json::parse(exports::chatBody(request));
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (sending.kind.sendsProgress) body["return_progress"] = true;
  return body;
}

std::string bodyText(const nlohmann::ordered_json& body) {
  return compactJson(body);
}

extern const Protocol kChatProtocol;
constinit const Protocol kChatProtocol{
    .name = "chat",
    .title = "chat completions",
    .help = "Each step is a list of messages. A plus becomes consecutive messages.",
    .path = "/v1/chat/completions",
    .form = "chat",
    .isCommon = true,
    .takesSeeds = true,
    .reporting = [](const ServerKindInfo& kind) { return kind.cached; },
    .write = &chatOutgoing,
    .answers = &kChoices};

}  // namespace spanscope::remote
