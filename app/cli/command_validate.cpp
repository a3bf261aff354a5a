// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/query_options.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"

#include <memory>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::cli {
namespace {

struct Options {
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

void writeParameters(std::ostream& out, const query::Node& node) {
  for (const query::ParameterInfo& parameter : query::listParameters(node)) {
    out << "  {" << parameter.name << "}: " << query::parameterKindName(parameter.kind)
        << (parameter.needsValue() ? ", needs a value, at" : ", at");
    for (const query::ParameterUse& use : parameter.uses) out << ' ' << use.pointer;
    out << '\n';
  }
}

ExitCode validate(const Context& context, const Options& options) {
  ExitCode code = ExitCode::Fine;
  for (const std::string& file : options.files) {
    const std::string text = readInput(file, context.streams.in);
    QueryInputs inputs(file, options.query.folders, *options.query.book, context.streams);
    ValidationInputs surroundings(inputs);
    const query::ParseResult parsed =
        query::parseQuery(text, query::queryFormOf(file, text), {}, &surroundings);
    writeDiagnostics(context.streams.err, inputName(file), parsed.diagnostics);
    if (parsed.query) {
      context.streams.out << inputName(file) << ": fine\n";
      if (options.parameters) writeParameters(context.streams.out, *parsed.query);
    } else {
      code = ExitCode::WrongInput;
    }
  }
  return code;
}

}  // namespace

void addValidate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("validate", "Say what is wrong with queries, and give advice");
  command->footer("Example:\n  spanq validate resources/queries/*.json\n");
  const auto options = std::make_shared<Options>();
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addReadFromOption(*command, options->query);
  command->add_flag("--parameters", options->parameters,
                    "List the parameters of each query: what their values must be, and their places");

  command->callback(
      [&context, options] { context.action = [&context, options] { return validate(context, *options); }; });
}

}  // namespace spanscope::cli
