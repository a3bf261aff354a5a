// SPDX-License-Identifier: GPL-3.0-or-later
// A query as chat completions: the requests that OpenAI's API, and the many servers that follow it, accept at
// POST /v1/chat/completions.
//
// A chat request is only a list of messages, so every step of the query's plan becomes one request. The reply
// of an inner step is an assistant message of the outer one. This reply is not known yet, so a placeholder
// stands for it. Steps under a monad are left out.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::exports {

struct ChatMessage {
  query::Role role = query::Role::User;
  std::string content;                 ///< the placeholder, if it is a reply that is not known yet
  std::optional<std::size_t> replyOf;  ///< the request that gives this reply
  NodePath node;                       ///< the node of the query that the message came from
  bool operator==(const ChatMessage&) const = default;
};

struct ChatRequest {
  NodePath node;                          ///< the generate, repeat or map that the request came from
  std::string model;                      ///< without the provider
  std::optional<std::int32_t> maxTokens;  ///< at least 1; none: the server's own limit
  float temperature = query::kDefaultTemperature;
  std::optional<std::uint32_t> seed;  ///< below 2³¹; different for each request, so that copies differ
  std::vector<ChatMessage> messages;
  bool operator==(const ChatRequest&) const = default;
};

struct ChatRequests {
  std::vector<ChatRequest> requests;  ///< in an order in which they can be sent
  std::vector<Error> problems;        ///< why there are no requests; `place` is a node or field
};

/// `seed`: that of the run; none: the server chooses.
ChatRequests chatRequests(const query::Node& query, std::optional<std::uint64_t> seed = {});

/// The name by which other requests refer to a request: "request-0", "request-1", …
std::string chatRequestName(std::size_t index);
/// The placeholder of a reply: "{{reply of request-0}}".
std::string replyPlaceholder(std::size_t index);

/// The body of a request, on one line or, if `pretty`, on indented lines. It has no line break at its end.
std::string chatBody(const ChatRequest& request, bool pretty = false);

/// The requests as a document, with a line break at its end. A single request is written as its body;
/// `pretty`: on indented lines. Several requests become a batch file: one line each, {"custom_id", "method",
/// "url", "body"}. OpenAI's Batch API and `vllm run-batch` accept such a file if no request needs the reply
/// of another.
std::string writeChatRequests(const std::vector<ChatRequest>& requests, bool pretty = false);

// What the forms of a query have in common that are sent step by step.

/// The requests of a plan, and which step each is of. Steps under a monad are left out, unless others need
/// them.
struct StepRequests {
  std::vector<ChatRequest> requests;
  std::vector<StepIndex> stepOf;
  std::map<StepIndex, std::size_t> requestOf;
};

/// `seed`: none: that of the server.
StepRequests stepRequests(const plan::Plan& plan, std::optional<std::uint64_t> seed);

/// What there is where a query has no requests.
Error generatesNothing();

}  // namespace spanscope::exports
