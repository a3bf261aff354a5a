// SPDX-License-Identifier: GPL-3.0-or-later
// The options for prompt tokens that are sent to a span server: tokenizer, template, markers, padding.
#pragma once

#include "app/cli/cli11_forward.h"
#include "engine/base/ids.h"
#include "engine/export/export_target.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace spanscope::cli {

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
