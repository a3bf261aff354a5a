// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/query_options.h"
#include "engine/query/json.h"
#include "engine/query/query_form.h"

#include <memory>
#include <ostream>
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
      "  spanq export --to yaml resources/queries/rag.json\n");
  struct Options {
    std::string file;
    std::string format;
    QueryOptionTexts query;
  };
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->file, kQueryFileHelp)->required();
  command
      ->add_option("--to", options->format,
                   "spnl: canonical JSON, as IBM/spnl writes it; yaml, lisp: its other forms")
      ->required()
      ->check(CLI::IsMember({"spnl", "yaml", "lisp"}));
  addSettingOption(*command, options->query);

  command->callback([&context, options] {
    context.action = [&context, options] {
      const query::QueryForm form = formOf(options->format);
      const auto read = readFileForServer(options->file, queryOptions(options->query), form, context.streams);
      if (!read) return ExitCode::WrongInput;
      context.streams.out << (form == query::QueryForm::Json ? query::writeCanonical(*read) + "\n"
                                                             : query::writeQuery(*read, form));
      return ExitCode::Fine;
    };
  });
}

}  // namespace spanscope::cli
