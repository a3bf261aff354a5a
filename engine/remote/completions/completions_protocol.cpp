// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/completions/completions_protocol.h"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace spanscope::remote {
namespace {

Outgoing completionOutgoing(const Sending& sending) {
  if (!sending.prompt) throw std::invalid_argument("completions are of texts");
  exports::ChatRequest request = sending.request;
  request.model = sending.model;
  nlohmann::ordered_json body = nlohmann::ordered_json::parse(exports::chatBody(request));
  body.erase("messages");
  std::visit([&body](const auto& prompt) { body["prompt"] = prompt; }, sending.prompt(request.messages));
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (sending.kind.sendsProgress) body["return_progress"] = true;
  return {.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)};
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
