// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_completion.h"

#include "app/cli/completion_scripts.h"
#include "app/cli/completion_table.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {
namespace {

std::string scriptFor(const std::string& shell, const std::vector<CompletedCommand>& table) {
  if (shell == "zsh") return zshCompletion(table);
  return shell == "fish" ? fishCompletion(table) : bashCompletion(table);
}

}  // namespace

void addCompletion(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "completion", "Write the script with which a shell completes commands, options and values");
  command->footer(
      "Examples:\n"
      "  source <(spanq completion bash)\n"
      "  spanq completion zsh >~/.zfunc/_spanq\n"
      "  spanq completion fish >~/.config/fish/completions/spanq.fish\n");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Which shell it is for")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, &context, shell] {
    context.action = [&app, &context, shell] {
      context.streams.out << scriptFor(*shell, completionTable(app));
      return ExitCode::Fine;
    };
  });
}

}  // namespace spanscope::cli
