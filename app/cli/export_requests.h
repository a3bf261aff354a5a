// SPDX-License-Identifier: GPL-3.0-or-later
// The options for requests to a server: a curl line, a program, chat completions.
#pragma once

#include "app/cli/cli11_forward.h"

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

}  // namespace spanscope::cli
