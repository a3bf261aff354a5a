// SPDX-License-Identifier: GPL-3.0-or-later
// What the query endpoint of a span server takes (IBM/spnl 0.22: POST /v1/query/execute): one bulk call, i.e.
// a generate, a repeat or a map whose prompt holds messages and joins and nothing else.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::spnl {

/// Whether the server's endpoint takes the query as a body.
bool isServerBody(const query::Node& query);

struct ServerBody {
  NodePath node;     ///< the generate, repeat or map it was made from
  query::Node body;  ///< isServerBody()
};

/// A generate, repeat or map that cannot be sent yet.
struct Withheld {
  NodePath node;
  std::string reason;  ///< one sentence
};

struct ServerBodies {
  std::vector<ServerBody> bodies;  ///< in the order in which they must be sent
  std::vector<Withheld> withheld;  ///< in the order in which they must be sent
};

/// The bulk calls of a query that can be sent as they stand, with what gives no tokens (print, monad, empty
/// messages) left out of their prompts, and those that cannot: their prompt holds the reply of another, or
/// something that is resolved before a query is sent.
ServerBodies serverBodies(const query::Node& query);

}  // namespace spanscope::spnl
