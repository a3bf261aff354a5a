// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_man.h"

#include "app/cli/man_pages.h"
#include "app/cli/usage.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/query/shown_text.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {
namespace {

struct ManOptions {
  std::string command;
  std::string folder;
};

ExitCode writePage(const std::vector<CommandPage>& pages, const ManOptions& options, std::ostream& out) {
  std::string known;
  for (const CommandPage& page : pages) {
    if (page.command == options.command) {
      out << page.text;
      return ExitCode::Fine;
    }
    if (!page.command.empty()) known += (known.empty() ? "" : ", ") + page.command;
  }
  refuseOption("COMMAND", query::inQuotes(options.command), "one of " + known);
}

ExitCode writePages(const std::vector<CommandPage>& pages, const ManOptions& options,
                    const Streams& streams) {
  for (const CommandPage& page : pages) {
    const OutputRules rules{.inputs = {}, .unfinished = streams.unfinished, .stop = streams.stop};
    const std::filesystem::path file = std::filesystem::path(options.folder) / (page.name + ".1");
    if (const std::optional<Error> error = writeFile(file, page.text, rules)) throw OutputFailure(*error);
  }
  return ExitCode::Fine;
}

}  // namespace

void addMan(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("man", "Write the page of a command, or of spanq itself, for man");
  command->footer(
      "Examples:\n"
      "  spanq man run | man -l -\n"
      "  spanq man --into ~/.local/share/man/man1\n");
  const auto options = std::make_shared<ManOptions>();
  CLI::Option* name =
      command->add_option("COMMAND", options->command, "Which command it is about; without, all of spanq");
  command->add_option("--into", options->folder, "Write the pages of all commands, as files of this folder")
      ->type_name("DIR")
      ->excludes(name);
  command->callback([&app, &context, options] {
    context.action = [&app, &context, options] {
      const std::vector<CommandPage> pages = manPages(app);
      return options->folder.empty() ? writePage(pages, *options, context.streams.out)
                                     : writePages(pages, *options, context.streams);
    };
  });
}

}  // namespace spanscope::cli
