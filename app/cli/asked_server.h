// SPDX-License-Identifier: GPL-3.0-or-later
// The server of a command: what the options and the list of servers say of it, and what it says of itself.
#pragma once

#include "app/cli/command.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/http/http_client.h"
#include "engine/workbench/servers/server_list.h"

#include <cstddef>
#include <optional>
#include <string>

namespace spanscope::cli {

struct ServerOptions {
  std::string url;  ///< or the name of a server in the list
  std::string keyVariable;
  std::string certificates;
  double connectSeconds = 10;
  double firstSeconds = 600;
  double silenceSeconds = 120;
};

/// A server as it is asked. `name`: that of the list, or the host of its address.
struct AskedServer {
  std::string name;
  remote::RemoteServer server;
  std::string protocol{};  ///< as the list has it; empty: the first that it takes
  std::size_t atOnce = remote::kStandardAtOnce;
};

workbench::ServerList serverList();

void addServerOptions(CLI::App& command, ServerOptions& server);
/// An option for the protocol of a server, by its name.
CLI::Option* addProtocolOption(CLI::App& command, std::string& protocol, const std::string& help);

/// Options count more than what the list says. Nothing, and why on standard error, where its key is not where
/// it should be.
std::optional<AskedServer> serverToAsk(const Context& context, const ServerOptions& options);

/// Nothing, and why on standard error, where the server cannot be asked.
std::optional<remote::ServerFacts> factsOf(const Context& context, remote::HttpClient& client,
                                           const std::string& url, const remote::HttpAccess& access);

}  // namespace spanscope::cli
