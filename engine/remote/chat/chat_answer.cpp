// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/chat_answer.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/remote/chat/json_fields.h"
#include "engine/remote/http/shown_reply.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;

Json parsedAnswer(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    throw Failure(errorAt("answer", shownReply(text), "a chat completion in JSON"));
  if (fieldOf(json, "error") != nullptr)
    throw Failure(errorAt("answer", "an error of the server: " + errorMessage(text), "a chat completion"));
  return json;
}

void takeFacts(ChatAnswer& answer, const Json& json) {
  if (std::string model = textOf(json, "model"); !model.empty()) answer.model = std::move(model);
  // No prompt has 0 tokens: vLLM with the span patch writes so what it does not count.
  const Json* usage = fieldOf(json, "usage");
  if (usage != nullptr && countOf(*usage, "prompt_tokens") != std::int64_t{0}) {
    if (const auto count = countOf(*usage, "prompt_tokens")) answer.promptTokens = count;
    if (const auto count = countOf(*usage, "completion_tokens")) answer.generatedTokens = count;
    if (const Json* details = fieldOf(*usage, "prompt_tokens_details")) {
      if (const auto count = countOf(*details, "cached_tokens")) answer.cachedTokens = count;
    }
  }
  // llama.cpp says the same beside it, also where a stream has no usage.
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

/// The choices that are objects; others mean nothing.
std::vector<const Json*> choicesOf(const Json& json) {
  std::vector<const Json*> found;
  const Json* choices = fieldOf(json, "choices");
  if (choices == nullptr || !choices->is_array()) return found;
  for (const Json& choice : *choices) {
    if (choice.is_object()) found.push_back(&choice);
  }
  return found;
}

/// The answer that a choice is of. Where only one was asked for, the first one is it, whatever its index.
std::size_t answerOf(const Json& choice, std::size_t answers) {
  if (answers == 1) return 0;
  const std::optional<std::int64_t> index = countOf(choice, "index");
  if (index && static_cast<std::size_t>(*index) < answers) return static_cast<std::size_t>(*index);
  throw Failure(errorAt("answer", index ? "choice " + std::to_string(*index) : "a choice without an index",
                        "one of 0 … " + std::to_string(answers - 1)));
}

/// The text of a choice, whose message or piece has this name. A completion has it as `text`.
std::string takeChoice(ChatAnswer& answer, const Json& choice, const char* name) {
  if (std::string finish = textOf(choice, "finish_reason"); !finish.empty())
    answer.finish = std::move(finish);
  std::string piece = textOf(choice, "text");
  if (const Json* message = fieldOf(choice, name)) {
    piece += textOf(*message, "content");
    // Two names for one thing: vLLM's and SGLang's older one, and the newer of both.
    for (const char* const thoughts : {"reasoning_content", "reasoning"})
      answer.reasoning += textOf(*message, thoughts);
  }
  answer.text += piece;
  return piece;
}

}  // namespace

std::string cachedText(const CachedTokens& cached) {
  switch (cached.state) {
    case CachedState::Found:
      return std::to_string(cached.tokens);
    case CachedState::MeasuredZero:
      return "0";
    case CachedState::NotReported:
      return "not reported";
    case CachedState::CannotReport:
      break;
  }
  return "cannot be reported";
}

std::string ChatAnswer::add(std::string_view data) {
  if (data == "[DONE]") {
    isDone = true;
    return {};
  }
  std::string pieces;
  for (const AnswerText& came : addEvent(std::span(this, 1), data)) pieces += came.piece;
  return pieces;
}

void ChatAnswer::read(std::string_view body) {
  readWhole(std::span(this, 1), body);
}

std::vector<AnswerText> addEvent(std::span<ChatAnswer> answers, std::string_view data) {
  if (data == "[DONE]") {
    for (ChatAnswer& answer : answers) answer.isDone = true;
    return {};
  }
  const Json json = parsedAnswer(data);
  takeFacts(answers.front(), json);
  std::vector<AnswerText> came;
  for (const Json* choice : choicesOf(json)) {
    const std::size_t index = answerOf(*choice, answers.size());
    std::string piece = takeChoice(answers[index], *choice, "delta");
    if (!piece.empty()) came.push_back({index, std::move(piece)});
    if (answers.size() == 1) break;
  }
  return came;
}

void readWhole(std::span<ChatAnswer> answers, std::string_view body) {
  const Json json = parsedAnswer(body);
  takeFacts(answers.front(), json);
  const std::vector<const Json*> choices = choicesOf(json);
  if (choices.size() < answers.size())
    throw Failure(errorAt("answer", choices.empty() ? "no choices" : counted(choices.size(), "choice"),
                          answers.size() == 1 ? "one at least" : std::to_string(answers.size())));
  for (const Json* choice : choices) {
    ChatAnswer& answer = answers[answerOf(*choice, answers.size())];
    takeChoice(answer, *choice, "message");
    answer.isDone = true;
    if (answers.size() == 1) break;
  }
}

CachedTokens cachedOf(const ChatAnswer& answer, const ServerKindInfo& kind) {
  return cachedOf(answer, kind.cached);
}

CachedTokens cachedOf(const ChatAnswer& answer, CacheReporting reporting) {
  if (answer.cachedTokens)
    return {.state = *answer.cachedTokens > 0 ? CachedState::Found : CachedState::MeasuredZero,
            .tokens = *answer.cachedTokens};
  return {.state = reporting == CacheReporting::Never ? CachedState::CannotReport : CachedState::NotReported};
}

std::string errorMessage(std::string_view body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_discarded()) {
    const Json* error = fieldOf(json, "error");
    if (error != nullptr && error->is_string()) return shownReply(error->get<std::string>());
    for (const Json* object : {error, &json}) {
      if (object == nullptr) continue;
      for (const char* const name : {"message", "detail"}) {
        if (const std::string text = textOf(*object, name); !text.empty()) return shownReply(text);
      }
    }
  }
  return shownReply(body);
}

}  // namespace spanscope::remote
