// SPDX-License-Identifier: GPL-3.0-or-later
// Options for exported or sent queries: the stage of the query, its tokens, and requests.
#pragma once

#include "app/cli/command.h"
#include "engine/base/ids.h"
#include "engine/export/export_target.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::cli {

inline constexpr const char* kRequestGroup = "With --to curl and --to python";
inline constexpr const char* kChatGroup = "With --to chat";

struct RequestExportOptions {
  std::string endpoint;               ///< empty: the default of the target
  bool inOnePiece = false;            ///< curl and python: the answer is not streamed
  std::optional<std::uint64_t> seed;  ///< chat
};

void addRequestOptions(CLI::App& command, RequestExportOptions& options);

// The stages at which a query can be written for a server with span support.

void addStageOption(CLI::App& command, std::string& stage);

/// The query with attention locality applied, if locality is on. `name` names the file in messages. Throws
/// Failure.
query::Node localized(const query::Node& query, const plan::LocalityOptions& locality,
                      const std::string& name);

// The options for prompt tokens for a server with span support: tokenizer, template, delimiter tokens,
// padding.

inline constexpr const char* kTokenGroup = "With --to tokens";

struct TokenExportOptions {
  std::string tokenizer;     ///< a model directory
  std::string chatTemplate;  ///< name of the template; empty: the model's own
  std::int32_t blockSize = 16;
  std::optional<TokenId> pad;
  std::optional<TokenId> plus;
  std::optional<TokenId> cross;
};

/// An option --template, which takes the name of a chat template.
CLI::Option* addTemplateOption(CLI::App& command, std::string& name, const char* help);

void addTokenOptions(CLI::App& command, TokenExportOptions& options);

/// The tokenizer, the chat template and the ids that the options name.
class TokenMaker {
 public:
  /// Requires --tokenizer and --pad. Throws Failure.
  explicit TokenMaker(const TokenExportOptions& options);

  void put(exports::ExportSettings& settings) const;

 private:
  std::unique_ptr<text::Tokenizer> m_tokenizer;
  const text::ChatTemplate& m_chat;
};

spnl::PromptTokenOptions promptTokenOptions(const TokenExportOptions& options);

}  // namespace spanscope::cli
