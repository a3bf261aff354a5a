// SPDX-License-Identifier: GPL-3.0-or-later
// A query as chat completions: what the API of OpenAI, and of the many servers that follow it, takes at
// POST /v1/chat/completions.
//
// A chat request is a list of messages and nothing else, so every step of the query's plan becomes one
// request. The reply of an inner step is an assistant message of the outer one; it is not known yet, and a
// placeholder stands for it. Steps under a monad are left out.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::exports {

struct ChatMessage {
  query::Role role = query::Role::User;
  std::string content;                 ///< of a reply that is not known yet, its placeholder
  std::optional<std::size_t> replyOf;  ///< the request whose reply it is
  NodePath node;                       ///< of the query, that it came from
  bool operator==(const ChatMessage&) const = default;
};

struct ChatRequest {
  NodePath node;                          ///< the generate, repeat or map it came from
  std::string model;                      ///< without the provider
  std::optional<std::int32_t> maxTokens;  ///< from 1 up; none: the server's own limit
  float temperature = query::kDefaultTemperature;
  std::optional<std::uint32_t> seed;  ///< below 2³¹; of each request its own, so that copies differ
  std::vector<ChatMessage> messages;
  bool operator==(const ChatRequest&) const = default;
};

struct ChatRequests {
  std::vector<ChatRequest> requests;  ///< in an order in which they can be sent
  std::vector<Error> problems;        ///< why there are none; `place` is a node or field
};

/// `seed`: that of the run; none: the server chooses.
ChatRequests chatRequests(const query::Node& query, std::optional<std::uint64_t> seed = {});

/// What requests are called where one names another: "request-0", "request-1", …
std::string chatRequestName(std::size_t index);
/// The placeholder of a reply: "{{reply of request-0}}".
std::string replyPlaceholder(std::size_t index);

/// The body of a request, on one line or on indented ones; no line break at its end.
std::string chatBody(const ChatRequest& request, bool pretty = false);

/// The requests as a document, with a line break at its end: of one request its body; of several a batch file
/// (one line each: {"custom_id", "method", "url", "body"}), as OpenAI's Batch API and `vllm run-batch` take
/// it where no request needs the reply of another. `pretty`: a single body on indented lines.
std::string writeChatRequests(const std::vector<ChatRequest>& requests, bool pretty = false);

}  // namespace spanscope::exports
