// SPDX-License-Identifier: GPL-3.0-or-later
// A query as the prompt tokens that a span server is sent: templates, markers, padding and cropping.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/cli11_forward.h"
#include "app/cli/target_warnings.h"
#include "engine/base/ids.h"

#include <cstdint>
#include <optional>
#include <string>

namespace spanscope::cli {

inline constexpr const char* kTokenGroup = "With --to tokens";

struct TokenExportOptions {
  std::string tokenizer;     ///< a model directory
  std::string chatTemplate;  ///< by name; empty: the directory's own
  std::int32_t blockSize = 16;
  std::optional<TokenId> pad;
  std::optional<TokenId> plus;
  std::optional<TokenId> cross;
};

void addTokenOptions(CLI::App& command, TokenExportOptions& options);

/// Writes {"ids": […]} for each bulk call of the query that can be sent as it is, one a line; of a map, a
/// list for each input. --tokenizer and --pad were given. Throws Failure.
ExitCode writeTokens(Outgoing outgoing, const TokenExportOptions& options, const Streams& streams);

}  // namespace spanscope::cli
