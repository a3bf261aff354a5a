// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a query as calls of a server with span support (IBM/spnl 0.22: POST /v1/query/execute). A client
// sends them one after the other. Open this file to change these calls.
//
// A call is a `repeat` or `map` as in the query, with its joins. If an outer prompt needs an inner answer,
// the answer is an assistant message in it. Under a plus, the answer follows its own prompt. The server then
// reuses the computed tokens of the inner prompt.
#pragma once

#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <string>
#include <vector>

namespace spanscope::exports {

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

/// Returns the body of a call as the server's endpoint accepts it, for the model with this name. The call
/// uses some of the given answers, which are those of all requests. Throws Failure if there is no such body.
query::Node queryBody(const QueryCall& call, const std::vector<std::string>& replies, std::string model);

}  // namespace spanscope::exports
