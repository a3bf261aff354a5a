// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/document_input.h"
#include "app/cli/input.h"
#include "app/cli/parameter_lines.h"
#include "app/cli/query_options.h"
#include "engine/query/advice.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"
#include "engine/workbench/pipeline.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::cli {
namespace {

struct ValidateCommandOptions {
  std::vector<std::string> files;
  QueryOptionTexts query;
  bool parameters = false;
};

/// Files as when the query is run. Nobody is asked: any answer makes the query as right or wrong as another.
class ValidationInputs final : public query::Surroundings {
 public:
  explicit ValidationInputs(QueryInputs& inputs) : m_inputs(inputs) {}

  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override {
    return m_inputs.readFile(path);
  }
  std::variant<query::FileList, query::NotGiven> listFiles(const std::string& path) override {
    return m_inputs.listFiles(path);
  }
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override { return prompt; }

 private:
  QueryInputs& m_inputs;
};

struct Checked {
  std::optional<query::Node> query;
  std::vector<query::Diagnostic> diagnostics;
  std::vector<query::ParameterDeclaration> declarations;
};

Checked check(const std::string& file, const std::string& text, query::Surroundings& surroundings) {
  if (auto document = readDocumentInput(text)) {
    Checked checked{.query = std::move(document->query),
                    .diagnostics = std::move(document->diagnostics),
                    .declarations = std::move(document->declarations)};
    if (!checked.query) return checked;
    for (query::Diagnostic& problem :
         query::checkValues(query::listParameters(*checked.query, checked.declarations), document->values)) {
      locate(problem, document->places, text);
      checked.diagnostics.push_back(std::move(problem));
    }
    for (query::Diagnostic& advice : query::adviceOn(*checked.query)) {
      locate(advice, document->places, text);
      checked.diagnostics.push_back(std::move(advice));
    }
    if (query::hasErrors(checked.diagnostics)) checked.query.reset();
    return checked;
  }
  workbench::PipelineResult read = workbench::runPipeline({.source = std::string_view(text),
                                                           .form = query::queryFormOf(file, text),
                                                           .surroundings = &surroundings},
                                                          workbench::Stage::Read);
  Checked checked{.query = std::nullopt, .diagnostics = std::move(read.diagnostics), .declarations = {}};
  if (!read.isReached()) return checked;
  checked.query = read.takeQuery();
  for (query::Diagnostic& advice : query::adviceOn(*checked.query)) {
    advice.position = workbench::positionOf(advice.pointer, read.sources, text);
    checked.diagnostics.push_back(std::move(advice));
  }
  return checked;
}

ExitCode validate(const Context& context, const ValidateCommandOptions& options) {
  ExitCode code = ExitCode::Fine;
  for (const std::string& file : options.files) {
    const std::string text = readInput(file, context.streams);
    QueryInputs inputs(file, options.query.folders, *options.query.book, context.streams);
    ValidationInputs surroundings(inputs);
    const Checked checked = check(file, text, surroundings);
    writeDiagnostics(context.streams.err, inputName(file), checked.diagnostics);
    if (checked.query) {
      context.streams.out << inputName(file) << ": fine\n";
      if (options.parameters)
        context.streams.out << parameterLines(query::listParameters(*checked.query, checked.declarations));
    } else {
      code = ExitCode::WrongInput;
    }
  }
  if (code == ExitCode::Fine)
    warnOfUnusedFolders(options.query.folders, *options.query.book, context.streams.err);
  return code;
}

}  // namespace

void addValidate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("validate", "Say what is wrong with queries, and give advice");
  command->footer("Example:\n  spanq validate resources/queries/*.json\n");
  const auto options = std::make_shared<ValidateCommandOptions>();
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addReadFromOption(*command, options->query);
  command->add_flag("--parameters", options->parameters,
                    "List the parameters of each query: what their values must be, and their places");

  command->callback(
      [&context, options] { context.action = [&context, options] { return validate(context, *options); }; });
}

}  // namespace spanscope::cli
