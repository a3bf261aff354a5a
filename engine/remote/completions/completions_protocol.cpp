// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/completions/completions_protocol.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/remote/chat/chat_protocol.h"
#include "engine/text/conversation.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::remote {
namespace {

using Messages = std::vector<exports::ChatMessage>;

std::vector<text::ConversationMessage> conversationOf(const Messages& messages) {
  std::vector<text::ConversationMessage> conversation;
  for (const exports::ChatMessage& message : messages)
    conversation.push_back({message.role, message.content});
  return conversation;
}

/// Throws Failure if the template cannot express the role of a message.
void checkTurns(const text::ChatTemplate& chat, const Messages& messages) {
  if (chat.program != nullptr) return;  // the program itself refuses messages
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const query::Role role = messages[i].role;
    const bool isOpening = i == 0 && role == query::Role::System && chat.openingSystem;
    if (isOpening || chat.turns[static_cast<std::size_t>(role)]) continue;
    throw Failure(errorAt(messages[i].node, std::string("a message with the role ") + query::roleName(role),
                          "a role that the template " + chat.name + " has"));
  }
}

/// The tokens of a prompt.
struct PromptSize {
  std::int64_t tokens = 0;
  bool isExact = false;  ///< otherwise an upper bound
};

/// If the server cannot count the tokens of a text, each byte counts as a token. The client requests the
/// count only if there are more bytes than `enough`.
PromptSize sizeOf(const Sending& sending, const PromptText& prompt, std::int64_t enough) {
  if (const auto* tokens = std::get_if<std::vector<TokenId>>(&prompt))
    return {.tokens = static_cast<std::int64_t>(tokens->size()), .isExact = true};
  const std::string& text = std::get<std::string>(prompt);
  // The server may add a few tokens.
  constexpr std::int64_t kAdded = 8;
  const std::int64_t most = static_cast<std::int64_t>(text.size()) + kAdded;
  const bool isAsked = most > enough && sending.countTokens;
  const std::optional<std::int64_t> counted = isAsked ? sending.countTokens(text) : std::nullopt;
  return {.tokens = counted.value_or(most), .isExact = counted.has_value()};
}

/// Throws Failure if a prompt leaves no room for an answer. Some servers truncate such a prompt without an
/// error.
void checkRoom(const Sending& sending, const PromptSize& size) {
  if (!sending.context || !size.isExact || size.tokens < *sending.context) return;
  throw Failure(errorAt(sending.request.node, "The prompt has " + counted(size.tokens, "token") + ".",
                        "At most " + std::to_string(*sending.context - 1) +
                            " tokens leave space for an answer: the context of " + sending.model + " is " +
                            counted(*sending.context, "token") + "."));
}

/// Without a limit, most completion servers end an answer after 16 tokens. vLLM 0.32 does this even if the
/// limit is null. So the client sets the limit to the free context.
void putLimit(nlohmann::ordered_json& body, const Sending& sending, const PromptSize& size) {
  const ServerKind kind = sending.kind.kind;
  // These servers have no default limit, unless the owner of the server has set a limit.
  if (kind == ServerKind::Spanscope || kind == ServerKind::LlamaCpp || !sending.context) return;
  // SGLang needs some free tokens.
  constexpr std::int64_t kRoom = 8;
  const std::int64_t room = kind == ServerKind::Sglang ? kRoom : 0;
  const std::int64_t left = *sending.context - size.tokens - room;
  if (left > 0) body["max_tokens"] = left;
}

Outgoing completionOutgoing(const Sending& sending) {
  if (!sending.prompt) throw std::invalid_argument("completions have texts");
  const exports::ChatRequest& request = sending.request;
  nlohmann::ordered_json body = chatBody(sending);
  body.erase("messages");
  const PromptText prompt = sending.prompt(request.messages);
  std::visit([&body](const auto& given) { body["prompt"] = given; }, prompt);
  if (sending.context) {
    // Without a limit, all remaining tokens count.
    const PromptSize size = sizeOf(sending, prompt, request.maxTokens ? *sending.context - 1 : 0);
    checkRoom(sending, size);
    if (!request.maxTokens) putLimit(body, sending, size);
  }
  return {.body = bodyText(body), .mayBeEmpty = request.maxTokens == 1};
}

}  // namespace

PromptWriter textPrompt(const text::ChatTemplate& chat) {
  return [&chat](const Messages& messages) -> PromptText {
    checkTurns(chat, messages);
    std::string text = text::spellConversation(chat, conversationOf(messages));
    // The server writes the opening itself.
    const std::string opening = text::spell(chat.opening);
    return text.starts_with(opening) ? text.substr(opening.size()) : text;
  };
}

PromptWriter tokenPrompt(const text::ChatTemplate& chat, std::shared_ptr<const text::Tokenizer> tokenizer) {
  return [&chat, tokenizer = std::move(tokenizer)](const Messages& messages) -> PromptText {
    return text::renderConversation(chat, *tokenizer, conversationOf(messages)).ids();
  };
}

/// OpenAI's older completions. The prompt is the text of the conversation under a chat template, or the
/// tokens of this text.
extern const Protocol kCompletionsProtocol;
constinit const Protocol kCompletionsProtocol{
    .name = "completions",
    .title = "text completions",
    .help = /*id:each-step-text*/
    "Each step is one text, written with a chat template. A plus becomes consecutive messages.",
    .path = "/v1/completions",
    .form = "chat",
    .isCommon = true,
    .takesSeeds = true,
    .needsPrompt = true,
    .reporting = [](const ServerKindInfo& kind) { return kind.cached; },
    .write = &completionOutgoing,
    .answers = &kChoices};

}  // namespace spanscope::remote
