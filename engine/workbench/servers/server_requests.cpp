// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/servers/server_requests.h"

#include "engine/export/export_target.h"

#include <algorithm>
#include <map>
#include <utility>

namespace spanscope::workbench {
namespace {

[[noreturn]] void refuseWith(const std::vector<Error>& problems) {
  throw Failure(problems.empty() ? errorAt("query", "a query that cannot be sent", "another query")
                                 : problems.front());
}

/// Identifies a request in both forms of a query: its node, and the number of the copy.
using CopyName = std::pair<NodePath, std::size_t>;

std::vector<CopyName> copyNames(const std::vector<exports::ChatRequest>& requests) {
  std::map<NodePath, std::size_t> copies;
  std::vector<CopyName> names;
  for (const exports::ChatRequest& request : requests)
    names.emplace_back(request.node, copies[request.node]++);
  return names;
}

}  // namespace

std::vector<exports::ChatRequest> asMessages(std::vector<exports::ChatRequest> requests,
                                             const std::vector<exports::ChatRequest>& chats,
                                             const std::function<bool(const NodePath&)>& isCalled) {
  const std::vector<CopyName> names = copyNames(requests);
  const std::vector<CopyName> chatNames = copyNames(chats);
  std::map<CopyName, std::size_t> indexOf;
  for (std::size_t i = 0; i < names.size(); ++i) indexOf.emplace(names[i], i);
  for (std::size_t i = 0; i < chats.size(); ++i) {
    const auto found = indexOf.find(chatNames[i]);
    if (found == indexOf.end() || (isCalled && isCalled(chats[i].node))) continue;
    exports::ChatRequest request = chats[i];
    for (exports::ChatMessage& message : request.messages) {
      if (!message.answerOf) continue;
      message.answerOf = indexOf.at(chatNames[*message.answerOf]);
      message.content = exports::answerPlaceholder(*message.answerOf);
    }
    requests[found->second] = std::move(request);
  }
  return requests;
}

std::vector<NodePath> generatingNodes(const query::Node& query) {
  const exports::ChatRequests made = exports::chatRequests(query);
  if (made.requests.empty()) refuseWith(made.problems);
  std::vector<NodePath> nodes;
  for (const exports::ChatRequest& request : made.requests) {
    if (std::find(nodes.begin(), nodes.end(), request.node) == nodes.end()) nodes.push_back(request.node);
  }
  return nodes;
}

ServerRequests serverRequests(const query::Node& query, const RunSettings& settings,
                              const std::function<const remote::Protocol*(const NodePath&)>& protocolOf) {
  exports::ChatRequests chats = exports::chatRequests(query, settings.seed);
  if (chats.requests.empty()) refuseWith(chats.problems);
  const auto isCalled = [&protocolOf](const NodePath& node) {
    const remote::Protocol* const protocol = protocolOf(node);
    return protocol != nullptr && protocol->takesCalls;
  };
  ServerRequests made;
  const bool hasCalls =
      std::any_of(chats.requests.begin(), chats.requests.end(),
                  [&isCalled](const exports::ChatRequest& request) { return isCalled(request.node); });
  if (hasCalls) {
    exports::QueryCalls calls = exports::queryCalls(query);
    if (calls.requests.empty()) refuseWith(calls.problems);
    made.messages = asMessages(calls.requests, chats.requests);
    made.requests = asMessages(std::move(calls.requests), chats.requests, isCalled);
    made.calls = std::move(calls.calls);
  } else {
    made.requests = std::move(chats.requests);
  }
  if (settings.maxTokens <= 0) return made;
  for (exports::QueryCall& call : made.calls) {
    if (!made.requests[call.first].maxTokens) call.settings.maxTokens = settings.maxTokens;
  }
  for (auto* requests : {&made.requests, &made.messages}) {
    for (exports::ChatRequest& request : *requests) {
      if (!request.maxTokens) request.maxTokens = settings.maxTokens;
    }
  }
  return made;
}

std::vector<std::string> protocolWarnings(const query::Node& query,
                                          const std::set<const remote::Protocol*>& protocols, bool hasSeed) {
  std::vector<std::string> warnings;
  const auto warn = [&warnings](std::string text) {
    if (std::find(warnings.begin(), warnings.end(), text) == warnings.end())
      warnings.push_back(std::move(text));
  };
  std::set<std::string> forms;
  for (const remote::Protocol* protocol : protocols) {
    if (hasSeed && !protocol->takesSeeds)
      warn(std::string(/*id:request-seed-not-sent*/ "The seed is not sent: ") + protocol->title +
           " has no field for a seed.");
    if (!forms.insert(protocol->form).second) continue;
    const exports::ExportTarget& target = *exports::findExportTarget(protocol->form);
    for (const exports::TargetRemark& remark : exports::exportRemarks(query, target, {.isSentHere = true})) {
      if (remark.effect == exports::Effect::Refused) {
        throw Failure({{},
                       remark.places.empty() ? "" : remark.places.front(),
                       std::string(protocol->title) + " cannot express the query: " + remark.text,
                       "another query or protocol"});
      }
      if (remark.effect == exports::Effect::Differs) warn(remark.text);
    }
  }
  return warnings;
}

ChosenProtocol chosenProtocol(const std::string& name, const remote::ServerFacts& facts,
                              const query::Node& query, const std::string& server) {
  const remote::Protocol* const own =
      name.empty() ? remote::protocolFor(facts, query) : remote::findProtocol(name);
  if (own != nullptr && own->isTakenBy(facts))
    return {.protocol = own, .otherwise = name.empty() ? protocolAfter(*own, facts, query) : nullptr};
  std::string taken;
  for (const remote::Protocol* protocol : remote::protocols()) {
    if (protocol->isTakenBy(facts)) taken += (taken.empty() ? "" : ", ") + std::string(protocol->title);
  }
  throw Failure({"server " + server, "protocol",
                 own == nullptr ? "an unknown protocol" : std::string("no ") + own->title,
                 taken.empty() ? "one of " + remote::protocolNames() : "a protocol of the server: " + taken});
}

}  // namespace spanscope::workbench
