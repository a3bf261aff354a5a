// SPDX-License-Identifier: GPL-3.0-or-later
// What the query endpoint of a span server accepts (IBM/spnl 0.22: POST /v1/query/execute): one bulk call,
// which is a generate, a repeat or a map whose prompt contains only messages and joins.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::spnl {

/// Whether the server's endpoint accepts the query as a body.
bool isServerBody(const query::Node& query);

struct ServerBody {
  NodePath node;     ///< the generate, repeat or map that the body was made from
  query::Node body;  ///< isServerBody() is true for it
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

/// The bulk calls of a query. `bodies` are the calls that can be sent; nodes without tokens (print, monad,
/// empty messages) are left out of their prompts. `withheld` are the others: their prompt contains another
/// reply, or something that must be resolved before a query is sent.
ServerBodies serverBodies(const query::Node& query);

}  // namespace spanscope::spnl
