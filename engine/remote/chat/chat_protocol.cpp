// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/chat/chat_protocol.h"

#include <nlohmann/json.hpp>

namespace spanscope::remote {
namespace {

Outgoing chatOutgoing(const Sending& sending) {
  exports::ChatRequest request = sending.request;
  request.model = sending.model;
  nlohmann::ordered_json body = nlohmann::ordered_json::parse(exports::chatBody(request));
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (sending.kind.sendsProgress) body["return_progress"] = true;
  return {.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace),
          .mayBeEmpty = request.maxTokens == 1};
}

}  // namespace

constinit const Protocol kChatProtocol{
    .name = "chat",
    .title = "chat completions",
    .help = "Each step as a list of messages: a plus becomes messages in a row.",
    .path = "/v1/chat/completions",
    .form = "chat",
    .takesCalls = false,
    .takesSeeds = true,
    .needsPrompt = false,
    .isTakenBy = [](const ServerFacts& facts) { return facts.takesChats; },
    .reporting = [](const ServerKindInfo& kind) { return kind.cached; },
    .write = &chatOutgoing};

}  // namespace spanscope::remote
