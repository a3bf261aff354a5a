// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_tokens.h"

#include "app/cli/export_stage.h"
#include "app/cli/number_option.h"
#include "app/cli/session_options.h"
#include "app/cli/usage.h"
#include "engine/spnl/prompt_tokens.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <vector>

namespace spanscope::cli {

void addTokenOptions(CLI::App& command, TokenExportOptions& options) {
  const char* const group = kTokenGroup;
  command.add_option("--tokenizer", options.tokenizer, "Model directory that has the tokenizer")
      ->type_name("DIR")
      ->group(group);
  command
      .add_option(
          "--template", options.chatTemplate,
          "Chat template by its name, e.g. granite-3, or spnl-granite, spnl-llama-3, spnl-chatml for the "
          "turns as SPNL writes them; without it the directory's own")
      ->check(isTemplateName())
      ->type_name("NAME")
      ->group(group);
  addNumber(command, "--block", options.blockSize, "Tokens of a block", {1, 1 << 20})->group(group);
  constexpr Range<TokenId> kIds{.least = 0, .most = std::numeric_limits<TokenId>::max()};
  addNumber(command, "--pad", options.pad, "Id that fills up blocks", kIds)->group(group);
  addNumber(command, "--plus", options.plus, "Id that begins a child of plus", kIds)->group(group);
  addNumber(command, "--cross", options.cross, "Id that begins the last child of cross", kIds)->group(group);
}

ExitCode writeTokens(Outgoing outgoing, const TokenExportOptions& options, const Streams& streams) {
  outgoing.settings.hasPlusMarker = options.plus.has_value();
  outgoing.settings.hasCrossMarker = options.cross.has_value();
  warnOfTarget(outgoing, streams);
  const std::unique_ptr<text::Tokenizer> tokenizer = text::loadTokenizer(options.tokenizer);
  const std::int32_t vocabulary = tokenizer->vocabularySize();
  checkId("--pad", options.pad.value_or(0), vocabulary);
  if (options.plus) checkId("--plus", *options.plus, vocabulary);
  if (options.cross) checkId("--cross", *options.cross, vocabulary);
  const text::ChatTemplate& chat = options.chatTemplate.empty()
                                       ? text::findChatTemplate(options.tokenizer)
                                       : text::chatTemplateNamed(options.chatTemplate);
  const std::vector<spnl::CallTokens> calls = spnl::promptTokens(outgoing.query, *tokenizer, chat,
                                                                 {.blockSize = options.blockSize,
                                                                  .pad = options.pad.value_or(0),
                                                                  .plus = options.plus,
                                                                  .cross = options.cross});
  for (const spnl::CallTokens& call : calls) streams.out << spnl::tokensOnOneLine(call) << '\n';
  return calls.empty() ? refuseCalls(outgoing, streams) : ExitCode::Fine;
}

}  // namespace spanscope::cli
