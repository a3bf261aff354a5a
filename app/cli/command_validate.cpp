// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "engine/query/json.h"

#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace spanscope::cli {

void addValidate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("validate", "Say what is wrong with queries, and give advice");
  command->footer("Example:\n  spanq validate resources/queries/*.json\n");
  const auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "Query files (JSON); - is standard input")->required();

  command->callback([&context, files] {
    context.action = [&context, files] {
      ExitCode code = ExitCode::Fine;
      for (const std::string& file : *files) {
        const query::ParseResult parsed = query::parseJson(readInput(file, context.streams.in));
        writeDiagnostics(context.streams.err, inputName(file), parsed.diagnostics);
        if (parsed.query) {
          context.streams.out << inputName(file) << ": fine\n";
        } else {
          code = ExitCode::WrongInput;
        }
      }
      return code;
    };
  });
}

}  // namespace spanscope::cli
