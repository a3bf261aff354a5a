// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/completions/completions_protocol.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::remote {
namespace {

/// The most tokens that a prompt can have. Where the server does not count those of a text, each is taken to
/// cover one byte.
std::int64_t mostTokens(const Sending& sending, const PromptText& prompt) {
  if (const auto* tokens = std::get_if<std::vector<TokenId>>(&prompt))
    return static_cast<std::int64_t>(tokens->size());
  const std::string& text = std::get<std::string>(prompt);
  const std::optional<std::int64_t> counted = sending.countTokens ? sending.countTokens(text) : std::nullopt;
  // The server may add a few.
  constexpr std::int64_t kAdded = 8;
  return counted.value_or(static_cast<std::int64_t>(text.size()) + kAdded);
}

/// Without a limit, most servers of completions end an answer after 16 tokens, also where the limit is null
/// (vLLM 0.32). It gets what fits the context.
void putLimit(nlohmann::ordered_json& body, const Sending& sending, const PromptText& prompt) {
  const ServerKind kind = sending.kind.kind;
  // These have no limit of their own, unless their owner set one.
  if (kind == ServerKind::Spanscope || kind == ServerKind::LlamaCpp || !sending.context) return;
  // SGLang wants a little room.
  constexpr std::int64_t kRoom = 8;
  const std::int64_t room = kind == ServerKind::Sglang ? kRoom : 0;
  const std::int64_t left = *sending.context - mostTokens(sending, prompt) - room;
  if (left > 0) body["max_tokens"] = left;
}

Outgoing completionOutgoing(const Sending& sending) {
  if (!sending.prompt) throw std::invalid_argument("completions are of texts");
  exports::ChatRequest request = sending.request;
  request.model = sending.model;
  nlohmann::ordered_json body = nlohmann::ordered_json::parse(exports::chatBody(request));
  body.erase("messages");
  const PromptText prompt = sending.prompt(request.messages);
  std::visit([&body](const auto& given) { body["prompt"] = given; }, prompt);
  if (!request.maxTokens) putLimit(body, sending, prompt);
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (sending.kind.sendsProgress) body["return_progress"] = true;
  return {.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
          .mayBeEmpty = request.maxTokens == 1};
}

}  // namespace

constinit const Protocol kCompletionsProtocol{
    .name = "completions",
    .title = "text completions",
    .help = "Each step as one text, under a chat template: a plus becomes messages in a row.",
    .path = "/v1/completions",
    .form = "chat",
    .takesCalls = false,
    .takesSeeds = true,
    .needsPrompt = true,
    .isTakenBy = [](const ServerFacts& facts) { return facts.takesTexts; },
    .reporting = [](const ServerKindInfo& kind) { return kind.cached; },
    .write = &completionOutgoing};

}  // namespace spanscope::remote
