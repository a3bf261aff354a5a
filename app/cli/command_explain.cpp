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
      "  spanq explain --no-distribute resources/queries/judge-2.json\n"
      "  spanq explain --locality 2 --rule distribute-plus=off resources/queries/judge-4.json\n"
      "  spanq explain --dot resources/queries/judge-2.json | dot -Tsvg >plan.svg\n");
  struct Options {
    std::vector<std::string> files;
    QueryOptionTexts query;
    bool trees = false;
    bool json = false;
    bool dot = false;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addPlanOptions(*command, options->query);
  command->add_flag("--trees", options->trees, "Show the whole tree before and after every pass");
  CLI::Option* json = command->add_flag("--json", options->json, "Write a JSON document for each query");
  command->add_flag("--dot", options->dot, "Write steps and prompts as a Graphviz graph")->excludes(json);

  command->callback([&context, options] {
    context.action = [&context, options] {
      ExitCode code = ExitCode::Fine;
      QueryOptions queryOption = queryOptions(options->query);
      queryOption.recordTrees = !options->dot;
      retrieveWith(queryOption, options->query);
      for (const std::string& file : options->files) {
        const auto planned = planFile(file, queryOption, context.streams);
        if (!planned) {
          code = ExitCode::WrongInput;
          continue;
        }
        plan::ExplainOptions explain;
        explain.eachTree = options->trees;
        if (planned->planWithoutLocality) explain.withoutLocality = &*planned->planWithoutLocality;
        std::ostream& out = context.streams.out;
        if (options->json) {
          out << plan::explainJson(*planned->plan, explain);
        } else if (options->dot) {
          out << plan::explainGraph(*planned->plan);
        } else {
          if (options->files.size() > 1) out << "── " << inputName(file) << '\n';
          out << plan::explain(*planned->plan, explain);
        }
      }
      warnOfUnusedSettings(queryOption, context.streams);
      return code;
    };
  });
}

}  // namespace spanscope::cli
