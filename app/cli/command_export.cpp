// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/query_options.h"
#include "engine/query/json.h"

#include <memory>
#include <ostream>
#include <string>

namespace spanscope::cli {

void addExport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("export", "Write a query in a form that a server accepts");
  command->footer("Example:\n  spanq export --to spnl resources/queries/rag.json\n");
  struct Options {
    std::string file;
    std::string format;
    QueryOptionTexts query;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, "Query file (JSON); - is standard input")->required();
  command->add_option("--to", options->format, "spnl: canonical JSON, as IBM/spnl writes it")
      ->required()
      ->check(CLI::IsMember({"spnl"}));
  addSettingOption(*command, options->query);

  command->callback([&context, options] {
    context.action = [&context, options] {
      const workbench::ReadQuery read = workbench::readQueryForServer(
          readInput(options->file, context.streams.in), queryOptions(options->query).parameters);
      writeDiagnostics(context.streams.err, inputName(options->file), read.diagnostics);
      if (!read.query) return ExitCode::WrongInput;
      context.streams.out << query::writeCanonical(*read.query) << '\n';
      return ExitCode::Fine;
    };
  });
}

}  // namespace spanscope::cli
