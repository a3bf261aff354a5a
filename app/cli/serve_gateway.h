// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq serve --upstream`: the options of a gateway before other servers.
#pragma once

#include "app/cli/command.h"
#include "engine/remote/server/served_address.h"
#include "engine/workbench/settings.h"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace spanscope::cli {

struct GatewayOptions {
  std::vector<std::string> upstreams;  ///< addresses, or names in the list of servers
  std::string keyVariable;
  std::string certificates;
  std::string order;  ///< "cache" or "written"; empty: the value in the list of servers
  bool hasOrderNote = false;
  std::string record;  ///< trace file; empty: none
  std::string log;     ///< file of JSON lines; empty: none
  std::size_t mostAhead = 4;

  bool isOn() const { return !upstreams.empty(); }
};

void addGatewayOptions(CLI::App& command, GatewayOptions& options);

/// Serves until the user stops the command. `config`: the address, the access rules and the limits.
/// `settings`: the model whose tokens count as those of the servers.
ExitCode serveGateway(const Context& context, const GatewayOptions& options,
                      const server::AddressConfig& config, const workbench::RunSettings& settings);

}  // namespace spanscope::cli
