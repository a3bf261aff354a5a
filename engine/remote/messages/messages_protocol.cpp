// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/remote/chat/answer_json.h"
#include "engine/remote/chat/chat_protocol.h"
#include "engine/remote/http/http_client.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::remote {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// The limit of an answer if query and server have no limit. The API requires a limit.
constexpr std::int64_t kUsualLimit = 4096;

/// An upper bound of the prompt's tokens, or the number of tokens with the additions of the template.
std::int64_t mostPromptTokens(const Sending& sending) {
  constexpr std::int64_t kOfTemplate = 64;
  constexpr std::int64_t kOfMessage = 16;
  std::string text;
  std::int64_t added = kOfTemplate;
  for (const exports::ChatMessage& message : sending.request.messages) {
    text += message.content;
    text += '\n';
    added += kOfMessage;
  }
  const auto bytes = static_cast<std::int64_t>(text.size());
  const bool isAsked = sending.countTokens && bytes + added > *sending.context - kUsualLimit;
  const std::optional<std::int64_t> counted = isAsked ? sending.countTokens(text) : std::nullopt;
  return counted.value_or(bytes) + added;
}

std::int64_t messageLimit(const Sending& sending) {
  if (sending.request.maxTokens) return *sending.request.maxTokens;
  if (!sending.context) return kUsualLimit;
  // llama.cpp ends an answer at the end of the context.
  if (sending.kind.kind == ServerKind::LlamaCpp) return *sending.context;
  return std::max<std::int64_t>(1, *sending.context - mostPromptTokens(sending));
}

Outgoing messagesOutgoing(const Sending& sending) {
  OrderedJson chat = chatBody(sending);
  OrderedJson body;
  body["model"] = chat["model"];
  body["max_tokens"] = messageLimit(sending);
  // Servers join several texts of the system prompt without a space.
  std::string system;
  auto message = chat["messages"].begin();
  for (; message != chat["messages"].end() && (*message)["role"] == "system"; ++message)
    system += (system.empty() ? "" : "\n\n") + (*message)["content"].get<std::string>();
  if (!system.empty()) body["system"] = system;
  body["messages"] = OrderedJson::array();
  for (; message != chat["messages"].end(); ++message) body["messages"].push_back(*message);
  if (body["messages"].empty()) {
    throw Failure(errorAt(sending.request.node, "a prompt of system messages only",
                          "a user message. The Messages API sends system messages separately"));
  }
  body["temperature"] = chat["temperature"];
  body["stream"] = true;
  return {.body = bodyText(body), .mayBeEmpty = sending.request.maxTokens == 1};
}

constexpr std::array<std::string_view, 6> kMessageEvents{"message_start",       "content_block_start",
                                                         "content_block_delta", "content_block_stop",
                                                         "message_delta",       "message_stop"};

bool isOfMessages(const Json& value) {
  const std::string type = textOf(value, "type");
  if (std::ranges::find(kMessageEvents, type) != kMessageEvents.end()) return true;
  return type == "message" && fieldOf(value, "role") != nullptr && fieldOf(value, "content") != nullptr;
}

/// Counts come at the beginning and, more exactly, at the end. Cached tokens are not in `input_tokens`.
void takeMessageCounts(ChatAnswer& answer, const Json& object) {
  const Json* const usage = fieldOf(object, "usage");
  if (usage == nullptr) return;
  const auto read = countOf(*usage, "cache_read_input_tokens");
  const auto written = countOf(*usage, "cache_creation_input_tokens");
  const std::int64_t before =
      answer.promptTokens.value_or(0) - answer.cachedTokens.value_or(0) - answer.writtenTokens.value_or(0);
  const std::int64_t rest = countOf(*usage, "input_tokens").value_or(before);
  if (read) answer.cachedTokens = read;
  if (written) answer.writtenTokens = written;
  const std::int64_t prompt = rest + answer.cachedTokens.value_or(0) + answer.writtenTokens.value_or(0);
  // No prompt has 0 tokens. Servers write 0 instead of unknown numbers.
  if (prompt > 0) answer.promptTokens = prompt;
  if (const auto count = countOf(*usage, "output_tokens"); count && prompt > 0)
    answer.generatedTokens = count;
}

void takeStopReason(ChatAnswer& answer, const Json& object) {
  if (const std::string reason = textOf(object, "stop_reason"); !reason.empty())
    answer.finish = shownReply(reason);
}

/// Adds a content block, or new text of a block. Returns the new text.
std::string takeBlock(ChatAnswer& answer, const Json& block) {
  MessageParts parts;
  const std::string type = textOf(block, "type");
  if (type.ends_with("tool_use"))
    addName(answer.calls, textOf(block, "name"));
  else if (type != "input_json_delta" && type != "signature_delta" && type != "citations_delta")
    takeContent(parts, block, parts.text);
  answer.reasoning += toValidUtf8(parts.reasoning);
  answer.refusal += parts.refusal;
  if (answer.noText.empty()) answer.noText = parts.noText;
  return addText(answer, parts.text, false);
}

bool takeMessage(std::span<ChatAnswer> answers, const Json& json, std::vector<AnswerText>& came) {
  if (!isOfMessages(json)) return false;
  ChatAnswer& answer = answers.front();
  answer.choice = 0;
  const std::string type = textOf(json, "type");
  const auto take = [&](const Json& block) {
    if (std::string piece = takeBlock(answer, block); !piece.empty()) came.push_back({0, std::move(piece)});
  };
  const Json* const started = type == "message_start" ? fieldOf(json, "message") : nullptr;
  const Json& object = started == nullptr ? json : *started;
  if (const std::string model = textOf(object, "model"); !model.empty()) answer.model = model;
  if (const Json* content = fieldOf(object, "content"); content != nullptr && content->is_array()) {
    for (const Json& block : *content) take(block);
  } else if (content != nullptr) {
    take(*content);
  }
  if (const Json* block = fieldOf(json, "content_block")) take(*block);
  const Json* const delta = fieldOf(json, "delta");
  if (delta != nullptr && type == "content_block_delta") take(*delta);
  takeMessageCounts(answer, object);
  takeStopReason(answer, delta != nullptr && type == "message_delta" ? *delta : object);
  if (type == "message_stop") endAnswers(answers, came);
  return true;
}

constinit const AnswerForm kMessages{.title = "a message of the Messages API",
                                     .api = "Anthropic's Messages API",
                                     .isOwn = &isOfMessages,
                                     .take = &takeMessage};

}  // namespace

/// Anthropic's Messages API, which vLLM and llama.cpp also support.
extern const Protocol kMessagesProtocol;
constinit const Protocol kMessagesProtocol{
    .name = "messages",
    .title = "Anthropic's Messages API",
    .help =
        "Each step is a list of messages. System messages at the beginning are sent separately. No seed is "
        "sent. Without max tokens an answer can fill the context.",
    .path = "/v1/messages",
    .form = "chat",
    .keyLine = "x-api-key: ",
    .headLine = "anthropic-version: 2023-06-01",
    .reporting = [](const ServerKindInfo& kind) { return kind.cached; },
    .write = &messagesOutgoing,
    .answers = &kMessages};

}  // namespace spanscope::remote
