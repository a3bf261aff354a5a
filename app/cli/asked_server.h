// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the server of a command from the options, the list of servers, and the server's own report. Open this
// file to add an option for servers.
#pragma once

#include "app/cli/command.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/http/http_client.h"
#include "engine/workbench/servers/server_list.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace spanscope::cli {

struct ServerOptions {
  std::string url;  ///< an address, or the name of a server in the list
  std::string keyVariable;
  std::string certificates;
  double connectSeconds = 10;
  double firstSeconds = 600;
  double silenceSeconds = 120;
};

/// A server, with the data that a request to this server needs. `name` is the server's name in the list, or
/// the host of its address.
struct AskedServer {
  std::string name;
  remote::RemoteServer server;
  std::string protocol{};  ///< protocol in the list; empty: the first protocol that the server accepts
  std::size_t atOnce = remote::kStandardAtOnce;
  bool keepsOrder = false;    ///< workbench::NamedServer::keepsOrder
  bool hasOrderNote = false;  ///< workbench::NamedServer::hasOrderNote
};

workbench::ServerList serverList();

void addServerOptions(CLI::App& command, ServerOptions& server);
/// Adds an option that takes the name of a server's protocol.
CLI::Option* addProtocolOption(CLI::App& command, std::string& protocol, const std::string& help);

/// The options of addOrderOptions().
struct OrderFlags {
  CLI::Option* order;
  CLI::Option* note;
};
/// Adds --order and --order-note. `order` gets "cache" or "written"; it remains empty without the option.
OrderFlags addOrderOptions(CLI::App& command, std::string& order, bool& hasOrderNote);

/// Returns the server. Options override the list of servers. If the key of the server is missing, returns
/// nothing and reports the reason on standard error.
std::optional<AskedServer> serverToAsk(const Context& context, const ServerOptions& options);

/// Asks the server for its facts. If the server gives no facts, returns nothing and reports the reason on
/// standard error.
std::optional<remote::ServerFacts> factsOf(const Context& context, remote::HttpClient& client,
                                           const std::string& url, const remote::HttpAccess& access);

/// Facts about a server as text: a table of its models, and one fact per line.
std::string factsText(const remote::ServerFacts& facts);
nlohmann::ordered_json factsJson(const remote::ServerFacts& facts);

}  // namespace spanscope::cli
