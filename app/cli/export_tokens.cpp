// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_tokens.h"

#include "app/cli/export_stage.h"
#include "engine/remote/prompt_tokens.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <ostream>
#include <vector>

namespace spanscope::cli {

void addTokenOptions(CLI::App& command, TokenExportOptions& options) {
  const char* const group = "With --to tokens";
  command.add_option("--tokenizer", options.tokenizer, "Model directory that has the tokenizer")
      ->type_name("DIR")
      ->group(group);
  command
      .add_option(
          "--template", options.chatTemplate,
          "Chat template by its name, e.g. granite-3, or spnl-granite, spnl-llama-3, spnl-chatml for the "
          "turns as SPNL writes them; without it the directory's own")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--block", options.blockSize, "Tokens of a block")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group(group);
  command.add_option("--pad", options.pad, "Id that fills up blocks")->type_name("ID")->group(group);
  command.add_option("--plus", options.plus, "Id that begins a child of plus")->type_name("ID")->group(group);
  command.add_option("--cross", options.cross, "Id that begins the last child of cross")
      ->type_name("ID")
      ->group(group);
}

ExitCode writeTokens(Outgoing outgoing, const TokenExportOptions& options, const Streams& streams) {
  outgoing.settings.hasPlusMarker = options.plus.has_value();
  outgoing.settings.hasCrossMarker = options.cross.has_value();
  warnOfTarget(outgoing, streams);
  const std::unique_ptr<text::Tokenizer> tokenizer = text::loadTokenizer(options.tokenizer);
  const text::ChatTemplate& chat = options.chatTemplate.empty()
                                       ? text::findChatTemplate(options.tokenizer)
                                       : text::chatTemplateNamed(options.chatTemplate);
  const std::vector<remote::CallTokens> calls = remote::promptTokens(
      outgoing.query, *tokenizer, chat,
      {.blockSize = options.blockSize, .pad = options.pad, .plus = options.plus, .cross = options.cross});
  for (const remote::CallTokens& call : calls) streams.out << remote::tokensOnOneLine(call) << '\n';
  return calls.empty() ? refuseCalls(outgoing, streams) : ExitCode::Fine;
}

}  // namespace spanscope::cli
