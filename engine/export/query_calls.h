// SPDX-License-Identifier: GPL-3.0-or-later
// A query as calls of a span server's endpoint (IBM/spnl 0.22: POST /v1/query/execute), for a client that
// sends them one after the other. A call is a `repeat` or `map` as it stands in the query, with its joins.
// Where the prompt of an outer generate needs the reply of an inner one, that reply is an assistant message
// in it; under a plus it stands behind its own prompt, so that the server finds again what it computed for
// the inner one.
#pragma once

#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <string>
#include <vector>

namespace spanscope::exports {

/// One call. Its replies are those of requests that follow each other.
struct QueryCall {
  std::size_t first = 0;  ///< the request that its first reply answers
  std::size_t count = 1;
  query::GenerateSettings settings;  ///< as the query has them
  bool isMap = false;
  plan::PromptNode prompt;          ///< unless it is a map; its outputs are those of requests, not of steps
  std::vector<std::string> inputs;  ///< of a map, one for each reply
};

struct QueryCalls {
  /// What each reply answers; `messages` are those of the call's prompt in a row, `seed` is none: the
  /// endpoint has no field for it.
  std::vector<ChatRequest> requests;
  std::vector<QueryCall> calls;  ///< in an order in which they can be sent; together they answer all requests
  std::vector<Error> problems;   ///< why there are no calls; `place` is a node or field
};

QueryCalls queryCalls(const query::Node& query);

/// The body of a call as the server's endpoint accepts it, for the model of this name. `replies`: those of
/// all requests, of which the call needs some. Throws Failure where there is no such body.
query::Node queryBody(const QueryCall& call, const std::vector<std::string>& replies, std::string model);

}  // namespace spanscope::exports
