// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_requests.h"

#include "app/cli/number_option.h"
#include "engine/export/chat_requests.h"
#include "engine/query/json/json.h"
#include "engine/spnl/request_text.h"

#include <CLI/CLI.hpp>

#include <ostream>

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

ExitCode writeRequest(const Outgoing& outgoing, bool asPython, const RequestExportOptions& options,
                      const Streams& streams) {
  if (!warnOfTarget(outgoing, streams)) return ExitCode::WrongInput;
  const query::Node request = spnl::requestFor(outgoing.query);
  const std::string body = query::writeCanonical(request);
  const bool stream = !options.inOnePiece && !spnl::wantsOneToken(request);
  streams.out << (asPython ? spnl::pythonProgram(body, options.endpoint, stream)
                           : spnl::curlLine(body, options.endpoint, stream));
  return ExitCode::Fine;
}

ExitCode writeChat(const Outgoing& outgoing, const RequestExportOptions& options, const Streams& streams) {
  if (!warnOfTarget(outgoing, streams)) return ExitCode::WrongInput;
  streams.out << exports::writeChatRequests(exports::chatRequests(outgoing.query, options.seed).requests);
  return ExitCode::Fine;
}

}  // namespace spanscope::cli
