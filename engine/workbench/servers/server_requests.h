// SPDX-License-Identifier: GPL-3.0-or-later
// The requests of a query whose steps go to servers that are asked in protocols of their own.
#pragma once

#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/export/query_calls.h"
#include "engine/query/query.h"
#include "engine/remote/protocol.h"
#include "engine/workbench/settings.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace spanscope::workbench {

struct ServerRequests {
  std::vector<exports::ChatRequest> requests;
  std::vector<exports::QueryCall> calls;  ///< for the steps whose protocol sends whole calls
  /// The same requests as messages, for a server that refuses calls; empty: there are no calls.
  std::vector<exports::ChatRequest> messages{};
};

/// The requests of calls as messages: there an inner prompt is not repeated, and a seed is sent. `chats`: the
/// same query by exports::chatRequests(). A request stays as it is where `chats` lacks it or `isCalled` is
/// true of its node.
std::vector<exports::ChatRequest> asMessages(std::vector<exports::ChatRequest> requests,
                                             const std::vector<exports::ChatRequest>& chats,
                                             const std::function<bool(const NodePath&)>& isCalled = {});

/// The nodes that generate, each once, in the order in which they are asked. Throws Failure for a query that
/// cannot be planned or generates nothing.
std::vector<NodePath> generatingNodes(const query::Node& query);

/// `protocolOf`: of who answers a node; null: the embedded engine, which is given messages. Throws Failure
/// where there are none.
ServerRequests serverRequests(const query::Node& query, const RunSettings& settings,
                              const std::function<const remote::Protocol*(const NodePath&)>& protocolOf);

/// What these protocols do otherwise than the query says, each sentence once. Throws Failure, with the
/// reason, for what one of them cannot take at all. `hasSeed`: the replies depend on one.
std::vector<std::string> protocolWarnings(const query::Node& query,
                                          const std::set<const remote::Protocol*>& protocols, bool hasSeed);

/// The protocol that a server is to be asked in.
struct ChosenProtocol {
  const remote::Protocol* protocol = nullptr;   ///< never null
  const remote::Protocol* otherwise = nullptr;  ///< RemoteTarget::otherwise
};

/// By its name; empty: the first that it takes and that can carry the query. Only then there is another one
/// for what the server refuses. Throws Failure where the server says that it does not take it.
ChosenProtocol chosenProtocol(const std::string& name, const remote::ServerFacts& facts,
                              const query::Node& query, const std::string& server);

}  // namespace spanscope::workbench
