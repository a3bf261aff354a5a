// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the requests of a query whose steps go to servers, in the servers' protocols. Open this file when a
// server gets wrong requests.
#pragma once

#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
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
  std::vector<exports::QueryCall> calls;  ///< calls, for the steps whose protocol sends whole calls
  /// The same requests as messages, for a server that refuses calls. Empty: there are no calls.
  std::vector<exports::ChatRequest> messages{};
};

/// Returns the requests of calls as messages. Messages do not repeat an inner prompt, and send a seed.
/// `chats`: the same query by exports::chatRequests(). A request remains a call if `chats` lacks it or
/// `isCalled` is true for its node.
std::vector<exports::ChatRequest> asMessages(std::vector<exports::ChatRequest> requests,
                                             const std::vector<exports::ChatRequest>& chats,
                                             const std::function<bool(const NodePath&)>& isCalled = {});

/// Returns the generating nodes, each once, in the order of their requests. Throws Failure for a query that
/// cannot be planned or generates nothing.
std::vector<NodePath> generatingNodes(const query::Node& query);

/// Returns the requests of a query. `protocolOf` returns the protocol of a node's server; null: the embedded
/// engine, which gets messages. Throws Failure if there are no requests.
ServerRequests serverRequests(const query::Node& query, const RunSettings& settings,
                              const std::function<const remote::Protocol*(const NodePath&)>& protocolOf);

/// Returns the differences between the query and its execution by these protocols, each sentence once. Throws
/// Failure with the reason if a protocol cannot express the query. `hasSeed`: whether the answers depend on a
/// seed.
std::vector<std::string> protocolWarnings(const query::Node& query,
                                          const std::set<const remote::Protocol*>& protocols, bool hasSeed);

/// The protocol for the requests to a server.
struct ChosenProtocol {
  const remote::Protocol* protocol = nullptr;   ///< never null
  const remote::Protocol* otherwise = nullptr;  ///< RemoteTarget::otherwise
};

/// Returns the protocol with this name. An empty name chooses the first protocol that the server accepts and
/// that can express the query. Only then there is another protocol for refused requests. Throws Failure if
/// the server reports that it does not accept the protocol.
ChosenProtocol chosenProtocol(const std::string& name, const remote::ServerFacts& facts,
                              const query::Node& query, const std::string& server);

}  // namespace spanscope::workbench
