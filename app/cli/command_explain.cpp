// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/input.h"
#include "app/cli/query_options.h"
#include "engine/plan/explain.h"

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {

void addExplain(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("explain", "Show how queries are rewritten and in which steps they run");
  command->footer(
      "Example:\n  spanq explain resources/queries/judge-2.json\n"
      "  spanq explain --no-distribute resources/queries/judge-2.json\n");
  struct Options {
    std::vector<std::string> files;
    QueryOptionTexts query;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addPlanOptions(*command, options->query);

  command->callback([&context, options] {
    context.action = [&context, options] {
      ExitCode code = ExitCode::Fine;
      for (const std::string& file : options->files) {
        const auto planned = planFile(file, queryOptions(options->query), context.streams);
        if (!planned) {
          code = ExitCode::WrongInput;
          continue;
        }
        if (options->files.size() > 1) context.streams.out << "── " << inputName(file) << '\n';
        context.streams.out << plan::explain(*planned->plan);
      }
      return code;
    };
  });
}

}  // namespace spanscope::cli
