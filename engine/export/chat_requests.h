// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a query as requests of two kinds: chat completions, and calls of a server with span support. Chat
// completions are requests that OpenAI's API and similar servers accept at POST /v1/chat/completions. Open
// this file to change these requests.
//
// A chat request is only a list of messages. Every step of the query's plan therefore becomes one request.
// The answer of an inner step is an assistant message of the outer step. A placeholder replaces this unknown
// answer. Steps under a monad are left out. Calls go to a server with span support (IBM/spnl 0.22: POST
// /v1/query/execute). A client sends the calls one after the other. Open this file to change these calls.
//
// A call is a `repeat` or `map` as in the query, with its joins. If an outer prompt needs an inner answer,
// the answer is an assistant message in it. Under a plus, the answer follows its own prompt. The server then
// reuses the computed tokens of the inner prompt.
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
  std::string content;                  ///< the placeholder, if it is an unknown answer
  std::optional<std::size_t> answerOf;  ///< the request that gives this answer
  NodePath node;                        ///< its origin in the query
  bool operator==(const ChatMessage&) const = default;
};

struct ChatRequest {
  NodePath node;                          ///< its origin: a generate, repeat or map
  std::string model;                      ///< without the provider
  std::optional<std::int32_t> maxTokens;  ///< at least 1; nothing: the server's own limit
  float temperature = query::kDefaultTemperature;
  std::optional<std::uint32_t> seed;  ///< below 2³¹; different for each request
  std::vector<ChatMessage> messages;
  bool operator==(const ChatRequest&) const = default;
};

struct ChatRequests {
  std::vector<ChatRequest> requests;  ///< in a possible sending order
  std::vector<Error> problems;        ///< the reasons why there are no requests; `place` is a node or field
};

/// `seed` is that of the run. Nothing: the server chooses.
ChatRequests chatRequests(const query::Node& query, std::optional<std::uint64_t> seed = {});

/// Returns the name by which other requests refer to a request: "request-0", "request-1", …
std::string chatRequestName(std::size_t index);
/// Returns the placeholder of an unknown answer.
std::string answerPlaceholder(std::size_t index);

/// Returns the body of a request, on one line or, if `pretty`, on indented lines. It has no line break at its
/// end.
std::string chatBody(const ChatRequest& request, bool pretty = false);

/// Returns the requests as a document, with a line break at its end. A single request is written as its body,
/// with `pretty` on indented lines. Several requests become a batch file: one line each, {"custom_id",
/// "method", "url", "body"}. OpenAI's Batch API and `vllm run-batch` accept such a file if no request needs
/// the answer of another.
std::string writeChatRequests(const std::vector<ChatRequest>& requests, bool pretty = false);

// Code that chat requests and calls share.

/// The requests of a plan, and the step of each request. Steps under a monad are left out, unless others need
/// them.
struct StepRequests {
  std::vector<ChatRequest> requests;
  std::vector<StepIndex> stepOf;
  std::map<StepIndex, std::size_t> requestOf;
};

/// `seed`: nothing means that the server chooses.
StepRequests stepRequests(const plan::Plan& plan, std::optional<std::uint64_t> seed);

/// Returns the error for a query without requests.
Error generatesNothing();

/// One call. Its answers are those of consecutive requests.
struct QueryCall {
  std::size_t first = 0;  ///< the request of its first answer
  std::size_t count = 1;
  query::GenerateSettings settings;  ///< as in the query
  bool isMap = false;
  plan::PromptNode prompt;          ///< unless it is a map; its outputs are those of requests, not of steps
  std::vector<std::string> inputs;  ///< of a map, one for each answer
};

struct QueryCalls {
  /// The request of each answer. `messages` are those of the call's prompt as a flat list. `seed` is empty,
  /// because the endpoint has no field for it.
  std::vector<ChatRequest> requests;
  std::vector<QueryCall> calls;  ///< in a possible sending order; together they answer all requests
  std::vector<Error> problems;   ///< the reasons why there are no calls; `place` is a node or field
};

QueryCalls queryCalls(const query::Node& query);

/// Returns the body of a call as the server's endpoint accepts it, for the model with this name. The given
/// answers are those of all requests, and the call uses some of them. Throws Failure if there is no such
/// body.
query::Node queryBody(const QueryCall& call, const std::vector<std::string>& answers, std::string model);

}  // namespace spanscope::exports
