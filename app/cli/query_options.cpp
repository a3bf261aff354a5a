// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/query_options.h"

#include "app/cli/diagnostics.h"
#include "app/cli/input.h"

namespace spanscope::cli {

void addSettingOption(CLI::App& command, QueryOptionTexts& texts) {
  const auto isAssignment = [](const std::string& text) {
    const std::size_t equals = text.find('=');
    return equals == std::string::npos || equals == 0 ? "\"" + text + "\" is not name=value" : std::string();
  };
  command
      .add_option("--set", texts.settings,
                  "Value of a parameter of the query, as name=value; may be repeated")
      ->check(CLI::Validator(isAssignment, ""))
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void addPlanOptions(CLI::App& command, QueryOptionTexts& texts) {
  addSettingOption(command, texts);
  command.add_option("--seed", texts.seed, "Seed of the run; each step draws from its own")
      ->capture_default_str();
  command.add_flag("--no-distribute", texts.noDistribute,
                   "Give an outer prompt only the outputs of inner steps, not their prompts as well");
  command
      .add_option("--output-form", texts.outputForm,
                  "How such an output gets its keys and values: anew, or reused as they were (approximate)")
      ->check(CLI::IsMember({"anew", "reused"}))
      ->capture_default_str();
}

workbench::QueryOptions queryOptions(const QueryOptionTexts& texts) {
  workbench::QueryOptions options;
  for (const std::string& setting : texts.settings) {
    const std::size_t equals = setting.find('=');
    options.parameters[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  options.seed = texts.seed;
  options.distribute = !texts.noDistribute;
  options.outputForm = texts.outputForm == "reused" ? plan::OutputForm::Reused : plan::OutputForm::Anew;
  return options;
}

std::optional<workbench::PlannedQuery> planFile(const std::string& file,
                                                const workbench::QueryOptions& options,
                                                const Streams& streams) {
  workbench::PlannedQuery planned = workbench::planQuery(readInput(file, streams.in), options);
  writeDiagnostics(streams.err, inputName(file), planned.diagnostics);
  if (!planned.plan) return std::nullopt;
  return planned;
}

}  // namespace spanscope::cli
