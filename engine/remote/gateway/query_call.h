// SPDX-License-Identifier: GPL-3.0-or-later
// Answers SPNL's endpoint of a gateway whose upstream servers take no span queries. Each step of the plan
// becomes a chat completion. Open this file when the gateway answers a span query wrongly.
#pragma once

#include "engine/remote/gateway/upstreams.h"
#include "engine/remote/server/answer.h"
#include "engine/remote/server/connection.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::gateway {

struct SpanQueryCall {
  server::Connection& client;
  std::string body;
  std::string clientKey;  ///< sent to the upstream server; empty: the key of the configuration
  server::ServedRequest about;
  std::size_t mostAhead;
  std::mutex& routing;  ///< the lock for inTurn()
  /// Returns the error that ends the answer early. Called on another thread.
  std::function<std::optional<server::ApiError>()> interruption;
};

/// Runs the query on the first upstream server that can be reached, and answers the client. Returns whether
/// the connection can get another request. Throws ApiFailure if nothing was written.
bool answerSpanQuery(const SpanQueryCall& call, const std::vector<std::unique_ptr<Upstream>>& upstreams,
                     RunBook& book);

}  // namespace spanscope::gateway
