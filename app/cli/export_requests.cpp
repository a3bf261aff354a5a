// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_requests.h"

#include "app/cli/number_option.h"
#include "engine/spnl/request_text.h"

#include <CLI/CLI.hpp>

namespace spanscope::cli {

void addRequestOptions(CLI::App& command, RequestExportOptions& options) {
  options.endpoint = spnl::kDefaultEndpoint;
  command.add_option("--endpoint", options.endpoint, "Address of the server's query endpoint")
      ->type_name("URL")
      ->capture_default_str()
      ->group(kRequestGroup);
  command.add_flag("--no-stream", options.inOnePiece, "Ask for the reply in one piece")->group(kRequestGroup);
  addNumber(command, "--seed", options.seed,
            "Seed of the run: each request has its own number made from it; without, the server chooses",
            kAnySeed)
      ->group(kChatGroup);
}

}  // namespace spanscope::cli
