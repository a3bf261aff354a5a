// SPDX-License-Identifier: GPL-3.0-or-later
// A query as requests to a server: a curl line, a program, chat completions.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/cli11_forward.h"
#include "app/cli/target_warnings.h"

#include <cstdint>
#include <optional>
#include <string>

namespace spanscope::cli {

inline constexpr const char* kRequestGroup = "With --to curl and --to python";
inline constexpr const char* kChatGroup = "With --to chat";

struct RequestExportOptions {
  std::string endpoint;               ///< curl and python
  bool inOnePiece = false;            ///< curl and python: the reply is not streamed
  std::optional<std::uint64_t> seed;  ///< chat
};

void addRequestOptions(CLI::App& command, RequestExportOptions& options);

/// Writes a line for the shell, or a Python program; nothing if the server would refuse the query.
ExitCode writeRequest(const Outgoing& outgoing, bool asPython, const RequestExportOptions& options,
                      const Streams& streams);

/// Writes the body of a chat request, or a batch file where there are several; nothing if the query cannot be
/// written so.
ExitCode writeChat(const Outgoing& outgoing, const RequestExportOptions& options, const Streams& streams);

}  // namespace spanscope::cli
