// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/export_stage.h"
#include "app/cli/export_tokens.h"
#include "app/cli/input.h"
#include "app/cli/query_options.h"
#include "engine/query/query_form.h"

#include <memory>
#include <string>

namespace spanscope::cli {
namespace {

query::QueryForm formOf(const std::string& format) {
  if (format == "yaml") return query::QueryForm::Yaml;
  return format == "lisp" ? query::QueryForm::Lisp : query::QueryForm::Json;
}

}  // namespace

void addExport(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("export", "Write a query in a form that a server accepts");
  command->footer(
      "Examples:\n  spanq export --to spnl resources/queries/rag.json\n"
      "  spanq export --to yaml resources/queries/rag.json\n"
      "  spanq export --to spnl --stage optimized resources/queries/judge-4.json\n"
      "  spanq export --to spnl --stage lowered resources/queries/judge-4.json\n"
      "  spanq export --to tokens --tokenizer resources/models/spanlet --pad 0 --plus 1 "
      "resources/queries/rag.json\n");
  struct Options {
    std::string file;
    std::string format;
    std::string stage = "read";
    bool retrieve = false;
    QueryOptionTexts query;
    TokenExportOptions tokens;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kQueryFileHelp)->required();
  command
      ->add_option(
          "--to", options->format,
          "spnl: canonical JSON, as IBM/spnl writes it; yaml, lisp: its other forms; tokens: the prompt ids "
          "that a span server is sent")
      ->required()
      ->check(CLI::IsMember({"spnl", "yaml", "lisp", "tokens"}));
  addStageOption(*command, options->stage);
  addSettingOption(*command, options->query);
  addLocalityOptions(*command, options->query);
  command->add_flag("--retrieve", options->retrieve,
                    "Write the fragments that each augment finds instead of it; tokens always have them");
  addRetrievalOptions(*command, options->query);
  addTokenOptions(*command, options->tokens);

  command->callback([&context, options] {
    const query::QueryForm form = formOf(options->format);
    if (options->stage == "lowered" && form != query::QueryForm::Json)
      throw CLI::ValidationError("--stage", "lowered bodies are JSON: use --to spnl");
    const bool isTokens = options->format == "tokens";
    if (isTokens && (options->tokens.tokenizer.empty() || options->tokens.pad < 0))
      throw CLI::ValidationError("--to tokens", "--tokenizer and --pad are needed");
    if (isTokens && options->stage != "read")
      throw CLI::ValidationError("--stage", "tokens are those of the query as it was read");
    context.action = [&context, options, form, isTokens] {
      QueryOptions given = queryOptions(options->query);
      if (isTokens || options->retrieve) retrieveWith(given, options->query, options->tokens.tokenizer);
      const auto read = readFileForServer(options->file, given, form, context.streams);
      warnOfUnusedSettings(given, context.streams);
      if (!read) return ExitCode::WrongInput;
      if (isTokens) return writeTokens(*read, options->tokens, inputName(options->file), context.streams);
      return writeStage(*read, options->stage, form, given.locality, inputName(options->file),
                        context.streams);
    };
  });
}

}  // namespace spanscope::cli
