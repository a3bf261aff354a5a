// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a query into bulk calls for the query endpoint of a server with span support (IBM/spnl 0.22: POST
// /v1/query/execute). A call is a generate, a repeat or a map whose prompt contains only messages and joins.
// Open this file to change what can be sent.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <string>
#include <vector>

namespace spanscope::spnl {

/// Whether the server's endpoint accepts the query as a body.
bool isServerBody(const query::Node& query);

struct ServerBody {
  NodePath node;     ///< the origin of the body: a generate, repeat or map
  query::Node body;  ///< isServerBody() is true for it
};

/// A generate, repeat or map that cannot be sent yet.
struct Withheld {
  NodePath node;
  std::string reason;  ///< one sentence
};

struct ServerBodies {
  std::vector<ServerBody> bodies;  ///< in sending order
  std::vector<Withheld> withheld;  ///< in sending order
};

/// Returns the bulk calls of a query. `bodies` are the calls that can be sent. Their prompts leave out nodes
/// without tokens (print, monad, empty messages). `withheld` are the other calls. Their prompt contains
/// another answer, or something that must be resolved first.
ServerBodies serverBodies(const query::Node& query);

}  // namespace spanscope::spnl
