// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/completions/completions_protocol.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::remote {
namespace {

/// The most tokens that a prompt can have. A token of a text covers at least one byte; a few may be added.
std::int64_t mostTokens(const PromptText& prompt) {
  constexpr std::int64_t kAdded = 8;
  if (const auto* tokens = std::get_if<std::vector<TokenId>>(&prompt))
    return static_cast<std::int64_t>(tokens->size());
  return static_cast<std::int64_t>(std::get<std::string>(prompt).size()) + kAdded;
}

/// Without a limit, servers of completions end an answer after 16 tokens. It gets what fits the context.
void putLimit(nlohmann::ordered_json& body, const Sending& sending, const PromptText& prompt) {
  // These take null for "as long as the context": the length of a text in tokens is not known here.
  const ServerKind kind = sending.kind.kind;
  // It has no limit of its own, unless its owner set one.
  if (kind == ServerKind::Spanscope) return;
  const bool takesNull = kind == ServerKind::Vllm || kind == ServerKind::LlamaCpp;
  if (takesNull && std::holds_alternative<std::string>(prompt)) {
    body["max_tokens"] = nullptr;
    return;
  }
  const std::int64_t left = sending.context ? *sending.context - mostTokens(prompt) : 0;
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
