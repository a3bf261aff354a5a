// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of a run on servers share: their options, and a query in the form that a protocol sends.
#pragma once

#include "app/cli/asked_server.h"
#include "app/cli/command.h"
#include "app/cli/query_options.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/protocol.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {

struct RemoteRunOptions {
  ServerOptions server;
  std::vector<std::string> files;
  std::string order;  ///< "cache" or "written"; empty: the value in the list of servers
  bool hasOrderNote = false;
  std::string sent;  ///< file with the prompts of earlier commands; empty: none
  std::string model;
  bool isUnlisted = false;  ///< sends the name `model` even if the server does not list this name
  std::string protocol;     ///< name of the protocol; empty: chosen for the server
  std::string tokenizer;    ///< directory or file
  std::string chatTemplate;
  std::optional<std::uint64_t> seed;
  std::optional<std::size_t> atOnce;  ///< nothing: the value in the list of servers
  std::string trace;
  bool json = false;
  std::string inputs;   ///< file of inputs; empty: the queries run once
  std::string results;  ///< file for the results of the inputs
  QueryOptionTexts query;
};

/// The requests of a query in the form that a protocol sends.
struct RemoteRequests {
  std::vector<exports::ChatRequest> requests;
  std::vector<exports::QueryCall> calls;         ///< for protocols that send whole calls
  std::vector<exports::ChatRequest> messages{};  ///< the same requests for a server that refuses calls
};

/// A query of the command.
struct AskedQuery {
  std::string name;
  QueryFile read;
  query::Node query;
  bool isLocalized = false;  ///< attention locality has replaced the query
  RemoteRequests sent;       ///< once the protocol is known
  const remote::Protocol* protocol = nullptr;

  const QueryFile* file() const { return isLocalized ? nullptr : &read; }
};

/// Reports on standard error how a protocol differs from the query. False: the protocol cannot send the
/// query.
bool warnOf(const remote::Protocol& protocol, const RemoteRunOptions& options, const query::Node& query,
            const std::string& name, const QueryFile* file, const Streams& streams);

/// Sets how prompts of a target are written. Throws Failure if there is no template or tokenizer.
void putPrompt(remote::RemoteTarget& target, const RemoteRunOptions& options, std::ostream& err);

/// Reads all queries. Nothing: an error was reported.
std::optional<std::vector<AskedQuery>> readQueries(const Context& context, const RemoteRunOptions& options);

std::string noKnownProtocol();

/// Chooses the protocol of a query and makes its requests. False: an error was reported.
bool prepare(AskedQuery& asked, const remote::Protocol* chosen, const remote::ServerFacts* facts,
             const RemoteRunOptions& options, const std::string& url, const Streams& streams);

/// The server of a command as a target. If the server has no such model, returns nothing and reports the
/// reason.
std::optional<remote::RemoteTarget> targetFor(const AskedServer& there, const remote::ServerFacts& facts,
                                              const RemoteRunOptions& options, const Streams& streams);

/// The tokenizer and the template that count the tokens of the server.
struct OrderModel {
  std::shared_ptr<const text::Tokenizer> tokenizer;
  const text::ChatTemplate* chat = nullptr;
};

/// The model of the server is known if the user gave its tokenizer.
void noteModel(remote::ServerFacts& facts, const RemoteRunOptions& options);

/// Nothing: there is no tokenizer, and the prompts are sent as written.
std::optional<OrderModel> orderModel(const RemoteRunOptions& options);

}  // namespace spanscope::cli
