// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a query as requests of two kinds: chat completions, and calls of a server with span support. Chat
// completions are requests that OpenAI's API and similar servers accept at POST /v1/chat/completions. Open
// this file to change these requests.
//
// A chat request is only a list of messages. Every step of the query's plan therefore becomes one request.
// The answer of a subquery is an assistant message in the request of the outer query. A placeholder replaces
// this unknown answer. Steps under a monad are left out.
//
// Calls go to a server with span support (IBM/spnl 0.22: POST /v1/query/execute). A client sends the calls
// one after the other. A call is a `repeat` or `map` as in the query, with its joins. If an outer query needs
// the answer of a subquery, the answer is an assistant message in the outer prompt. Under a plus, the answer
// follows the prompt of the subquery. The server then reuses the computed tokens of the subquery's prompt.
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
#include <string_view>
#include <vector>

namespace spanscope::exports {

struct ChatMessage {
  query::Role role = query::Role::User;
  std::string content;                  ///< the text; a placeholder for an unknown answer
  std::optional<std::size_t> answerOf;  ///< the request that gives this answer
  NodePath node;                        ///< its origin in the query
  bool operator==(const ChatMessage&) const = default;
};

/// The children of a plus, whose messages may change places as a whole. Child i has the messages from
/// bounds[i] to bounds[i + 1].
struct PlusGroup {
  std::vector<std::size_t> bounds;  ///< ascending
  NodePath node{};                  ///< the plus
  bool operator==(const PlusGroup&) const = default;
};

struct ChatRequest {
  NodePath node;                          ///< the origin of the request: a generate, repeat or map node
  std::string model;                      ///< without the provider
  std::optional<std::int32_t> maxTokens;  ///< at least 1; nothing: the limit of the server applies
  float temperature = query::kDefaultTemperature;
  std::optional<std::uint32_t> seed;  ///< below 2³¹; different for each request
  std::vector<ChatMessage> messages;
  std::vector<PlusGroup>
      groups{};  ///< with at least one child each; an outer plus comes before an inner plus
  bool operator==(const ChatRequest&) const = default;
};

struct ChatRequests {
  std::vector<ChatRequest> requests;  ///< in a possible sending order
  std::vector<Error> problems;        ///< the reasons why there are no requests; `place` is a node or field
};

/// `seed` is the seed of the run. Nothing: the server chooses the seed.
ChatRequests chatRequests(const query::Node& query, std::optional<std::uint64_t> seed = {});

/// Returns the name by which other requests refer to a request: "request-0", "request-1", …
std::string chatRequestName(std::size_t index);
/// Returns the placeholder of an unknown answer.
std::string answerPlaceholder(std::size_t index);

/// Returns the body of a request, on one line or, if `pretty`, on indented lines. The body has no line break
/// at its end.
std::string chatBody(const ChatRequest& request, bool pretty = false);

/// Returns the requests as a document, with a line break at its end. A single request is written as a body,
/// with `pretty` on indented lines. Several requests become a batch file with one line for each request:
/// {"custom_id", "method", "url", "body"}. OpenAI's Batch API and `vllm run-batch` accept such a file if no
/// request needs the answer of another.
std::string writeChatRequests(const std::vector<ChatRequest>& requests, bool pretty = false);

inline constexpr char kDefaultChatEndpoint[] = "http://localhost:8000/v1/chat/completions";

/// Returns a curl command for each request, for a POSIX shell. The key comes from OPENAI_API_KEY, which may
/// be empty. Several commands have the names of their requests before them, as comments.
std::string writeChatCommands(const std::vector<ChatRequest>& requests, std::string_view endpoint);

// Code that chat requests and calls share.

/// The requests of a plan, and the step of each request. A step under a monad is left out, unless other steps
/// need its answer.
struct StepRequests {
  std::vector<ChatRequest> requests;
  std::vector<StepIndex> stepOf;
  std::map<StepIndex, std::size_t> requestOf;
};

/// `seed`: nothing means that the server chooses the seed.
StepRequests stepRequests(const plan::Plan& plan, std::optional<std::uint64_t> seed);

/// Returns the error for a query without requests.
Error generatesNothing();

/// One call. The answers of a call belong to consecutive requests.
struct QueryCall {
  std::size_t first = 0;  ///< the request of its first answer
  std::size_t count = 1;
  query::GenerateSettings settings;  ///< settings in the query
  bool isMap = false;
  plan::PromptNode prompt;  ///< unless the call is a map; output numbers refer to requests, not to steps
  std::vector<std::string> inputs;  ///< the inputs of a map, one for each answer
};

struct QueryCalls {
  /// The request of each answer. `messages` has the messages of the call's prompt as a flat list. `seed` is
  /// empty, because the endpoint has no field for a seed.
  std::vector<ChatRequest> requests;
  std::vector<QueryCall> calls;  ///< in a possible sending order; all calls together answer all requests
  std::vector<Error> problems;   ///< the reasons why there are no calls; `place` is a node or field
};

QueryCalls queryCalls(const query::Node& query);

/// Returns the body of a call for the server's endpoint, for the model with this name. The given answers are
/// the answers of all requests. The call uses some of these answers. Throws Failure if there is no such body.
query::Node queryBody(const QueryCall& call, const std::vector<std::string>& answers, std::string model);

}  // namespace spanscope::exports
