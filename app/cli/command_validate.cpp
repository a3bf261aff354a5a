// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/parameter_lines.h"
#include "app/cli/query_options.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"
#include "engine/run/plan_fit.h"
#include "engine/run/predictor.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/document/problems.h"
#include "engine/workbench/model_obstacle.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/run_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <map>
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

/// What a run of the document would say of its files.
document::ProblemContext contextOf(query::Surroundings& surroundings) {
  document::ProblemContext context;
  context.fileObstacle = [&surroundings](const std::string& path,
                                         document::FileUse use) -> std::optional<query::NotGiven> {
    if (use == document::FileUse::Text) {
      auto text = query::readTextFile(surroundings, path);
      auto* reason = std::get_if<query::NotGiven>(&text);
      return reason == nullptr ? std::nullopt : std::optional(std::move(*reason));
    }
    auto list = surroundings.listFiles(path);
    auto* reason = std::get_if<query::NotGiven>(&list);
    return reason == nullptr ? std::nullopt : std::optional(std::move(*reason));
  };
  return context;
}

/// Whether a run of the document fits, as the run itself counts. Nothing: what it reads is known only when it
/// runs.
std::optional<run::PlanFit> fitOf(const document::Document& document, const workbench::ModelBundle& model,
                                  query::Surroundings& surroundings) {
  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!taken.query) return std::nullopt;
  const workbench::PipelineResult made =
      workbench::runPipeline({.source = std::move(*taken.query),
                              .parameters = document.parameters,
                              .declarations = document.declarations,
                              .surroundings = &surroundings,
                              .endsAtAsk = true,
                              .endsAtAugment = true,
                              .plan = document::planOptionsOf(document.settings)});
  if (!made.plan || made.plan->steps.empty()) return std::nullopt;
  workbench::RunSettings settings = document.settings;
  settings.cacheDiskMebibytes = 0;  // an empty cache has nothing on the disk
  const run::RunOptions options = workbench::runOptionsOf(settings);
  const auto predict = [&](const run::SessionConfig& session) {
    run::Predictor predictor(session, model.config, *model.tokenizer, *model.chat);
    return predictor.predict(*made.plan, options);
  };
  const run::SessionConfig session = workbench::sessionConfigOf(settings);
  return run::planFit(predict(session), session, predict);
}

/// Adds the problems that the window shows, in place of what the parser said of the same values.
/// `queryPointer` is where the query stands in the text.
void addProblems(Checked& checked, const document::Document& document,
                 const std::vector<document::QueryProblem>& problems, const std::string& queryPointer,
                 const std::function<query::TextPosition(const std::string& pointer)>& positionOf) {
  const std::vector<std::string> places = document::placesOf(document, problems);
  std::map<std::string, query::TextPosition> fields;  // the exact places of what both say
  std::erase_if(checked.diagnostics, [&](const query::Diagnostic& said) {
    const bool isInList = std::any_of(places.begin(), places.end(), [&](const std::string& place) {
      return !place.empty() && said.pointer == queryPointer + place;
    });
    if (isInList) fields.emplace(said.pointer, said.position);
    return isInList;
  });
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const document::QueryProblem& problem = problems[i];
    query::Diagnostic& diagnostic = checked.diagnostics.emplace_back();
    diagnostic.severity = problem.severity;
    diagnostic.hint = problem.text.words();
    if (const std::string hint = problem.hint.words(); !hint.empty()) diagnostic.hint += ". " + hint;
    // What stands outside of the query has no place in it.
    if (places[i].empty() && problem.node != document.root()) continue;
    diagnostic.pointer = queryPointer + places[i];
    const auto field = fields.find(diagnostic.pointer);
    diagnostic.position = field == fields.end() ? positionOf(places[i]) : field->second;
  }
}

/// A document has its values and settings with it: what a run of it would refuse is an error.
Checked checkDocument(const std::string& text, query::Surroundings& surroundings) {
  document::OpenedDocument opened = document::readDocument(text);
  Checked checked{.query = std::nullopt, .diagnostics = std::move(opened.diagnostics), .declarations = {}};
  if (!opened.document) return checked;
  const document::Document& document = *opened.document;
  // An empty document has an empty seq in place of its query.
  if (document.root() == document::kNoNode) {
    std::erase_if(checked.diagnostics, [](const query::Diagnostic& said) {
      return said.severity == Severity::Warning && said.pointer.starts_with("/query");
    });
  }
  // What stands there in the text stands for an input that is missing.
  for (const auto& [path, id] : document::pathsInTree(document, document.root())) {
    if (id != document::kNoNode) continue;
    std::erase_if(checked.diagnostics, [place = "/query" + path](const query::Diagnostic& said) {
      return said.severity == Severity::Warning && said.pointer.starts_with(place);
    });
  }
  document::ProblemContext context = contextOf(surroundings);
  std::optional<run::PlanFit> fit;
  if (!document::goesOnlyToServers(document)) {
    workbench::ModelLook look = workbench::lookAtModel(document.settings);
    context.modelObstacle = std::move(look.obstacle);
    context.guessedTemplate = workbench::guessedTemplate(document.settings);
    if (look.model) fit = fitOf(document, *look.model, surroundings);
    context.fit = fit ? &*fit : nullptr;
  }
  addProblems(checked, document, document::problemsOf(document, context), "/query",
              [&](const std::string& pointer) {
                const auto range = workbench::rangeAround(pointer, opened.sources);
                return query::positionAt(text, opened.queryBegin + (range ? range->begin : 0));
              });
  checked.declarations = document.declarations;
  if (!query::hasErrors(checked.diagnostics))
    checked.query = document::toQuery(document, document::TakeOut::MutedAndFrozen).query;
  return checked;
}

/// A query alone gets its values, its folder and its settings later: what a run would refuse without them is
/// advice.
Checked checkQuery(const std::string& file, const std::string& text, query::Surroundings& surroundings) {
  workbench::PipelineResult read = workbench::runPipeline({.source = std::string_view(text),
                                                           .form = query::queryFormOf(file, text),
                                                           .surroundings = &surroundings},
                                                          workbench::Stage::Read);
  Checked checked{.query = std::nullopt, .diagnostics = std::move(read.diagnostics), .declarations = {}};
  if (!read.isReached()) return checked;
  const query::Node query = read.takeQuery();
  const document::Document document = document::fromQuery(query);
  std::vector<document::QueryProblem> problems = document::problemsOf(document, contextOf(surroundings));
  std::erase_if(problems, [](const document::QueryProblem& problem) { return problem.isOfSettings; });
  for (document::QueryProblem& problem : problems) problem.severity = Severity::Warning;
  addProblems(checked, document, problems, {},
              [&](const std::string& pointer) { return workbench::positionOf(pointer, read.sources, text); });
  if (!query::hasErrors(checked.diagnostics)) checked.query = query;
  return checked;
}

Checked check(const std::string& file, const std::string& text, query::Surroundings& surroundings) {
  return document::isDocumentText(text) ? checkDocument(text, surroundings)
                                        : checkQuery(file, text, surroundings);
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
