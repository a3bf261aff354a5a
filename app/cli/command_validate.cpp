// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/parameter_lines.h"
#include "app/cli/query_inputs.h"
#include "app/cli/query_options.h"
#include "app/cli/session_options.h"
#include "engine/base/problem_sentence.h"
#include "engine/compute/backends.h"
#include "engine/query/node_parts.h"
#include "engine/query/parameters.h"
#include "engine/query/query_form.h"
#include "engine/run/drive_plan.h"
#include "engine/run/predictor.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/document/problems.h"
#include "engine/workbench/model_problem.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/run_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <set>
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
  SessionOptions session;
  std::vector<CLI::Option*> settingOptions;
  bool parameters = false;
  const CLI::App* command = nullptr;
};

/// The files of a run. Questions get any answer, because the answers do not change whether the query is
/// valid.
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

/// The problems that a run of the document would report for its files.
document::ProblemContext contextOf(query::Surroundings& surroundings) {
  document::ProblemContext context;
  context.fileReason = [&surroundings](const std::string& path,
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

/// The results of planning the whole query. A large query is planned, too.
struct Planned {
  std::vector<document::QueryProblem> refusals;  ///< the planner's errors
  std::optional<run::PlanFit> fit;               ///< nothing: there is no model, or the prompts are unknown
};

/// Plans the query as a run does. `model`: null if the model is unknown.
Planned planned(const document::Document& document, const workbench::ModelBundle* model,
                query::Surroundings& surroundings) {
  Planned result;
  document::QueryOf taken = document::toQuery(document, document::TakeOut::MutedAndFrozen);
  if (!taken.query) return result;
  const workbench::PipelineResult made =
      workbench::runPipeline({.source = std::move(*taken.query),
                              .parameters = document.parameters,
                              .declarations = document.declarations,
                              .surroundings = &surroundings,
                              .endsAtAsk = true,
                              .endsAtAugment = true,
                              .plan = document::planOptionsOf(document.settings)});
  if (made.end == workbench::PipelineEnd::Problem && made.at == workbench::Stage::Plan) {
    for (const query::Diagnostic& refused : made.diagnostics) {
      document::QueryProblem& problem = result.refusals.emplace_back();
      problem.node = taken.paths.nodeOf(refused.pointer);
      using Argument = document::Sentence::Argument;
      problem.text.form = "%1";
      problem.text.arguments = {Argument{.text = problemSentence(refused.found, refused.expected)}};
      problem.hint.form = "%1";
      problem.hint.arguments = {Argument{.text = refused.hint}};
    }
  }
  if (!made.plan || made.plan->steps.empty() || model == nullptr) return result;
  SessionOptions session{.settings = document.settings, .cacheFolder = {}};
  session.settings.cacheDiskMebibytes = 0;  // an empty cache has nothing on the disk
  const run::RunOptions options = workbench::runOptionsOf(session.settings);
  const auto predict = [&](const run::SessionConfig& config) {
    run::Predictor predictor(config, model->config, *model->tokenizer, *model->chat);
    return predictor.predict(*made.plan, options);
  };
  const run::SessionConfig config = session.config();
  result.fit = run::planFit(config, predict);
  return result;
}

/// The devices and the models of this machine. A model is read once for all files.
class Machine {
 public:
  explicit Machine(const compute::Backends& backends) : m_devices(backends.devices()) {}

  const std::vector<compute::Device>& devices() const { return m_devices; }
  const workbench::ModelLook& lookAt(const workbench::RunSettings& settings) {
    const auto known = std::ranges::find_if(m_looks, [&](const auto& look) {
      const workbench::RunSettings& other = look.first;
      return other.model == settings.model && other.chatTemplate == settings.chatTemplate &&
             other.templateVariables == settings.templateVariables && other.adapter == settings.adapter &&
             other.context == settings.context;
    });
    if (known != m_looks.end()) return known->second;
    return m_looks.emplace_back(settings, workbench::lookAtModel(settings)).second;
  }

 private:
  std::vector<compute::Device> m_devices;
  std::deque<std::pair<workbench::RunSettings, workbench::ModelLook>> m_looks;  ///< addresses do not change
};

/// The problems that the window shows. `machine`: null if machine and model are not checked. Adds the
/// planner's errors of the whole query to `refusals`.
std::vector<document::QueryProblem> problemsOf(const document::Document& document, Machine* machine,
                                               query::Surroundings& surroundings,
                                               std::vector<document::QueryProblem>& refusals) {
  document::ProblemContext context = contextOf(surroundings);
  const workbench::ModelBundle* model = nullptr;
  if (machine != nullptr && !document::goesOnlyToServers(document)) {
    context.devices = &machine->devices();
    const workbench::ModelLook& look = machine->lookAt(document.settings);
    context.modelProblem = look.reason;
    context.guessedTemplate = workbench::guessedTemplate(document.settings);
    if (look.model) model = &*look.model;
  }
  Planned plan = planned(document, model, surroundings);
  refusals = std::move(plan.refusals);
  context.fit = plan.fit ? &*plan.fit : nullptr;
  return document::problemsOf(document, context);
}

/// Adds the planner's errors if `problems` has no error of the query. The window does not plan large queries
/// while the user types.
void addRefusals(std::vector<document::QueryProblem>& problems,
                 std::vector<document::QueryProblem> refusals) {
  const bool isRefused = std::ranges::any_of(problems, [](const document::QueryProblem& problem) {
    return problem.severity == Severity::Error && !problem.isOfSettings;
  });
  if (!isRefused) std::move(refusals.begin(), refusals.end(), std::back_inserter(problems));
}

/// Adds the problems that the window shows, in place of the parser's diagnostics of the same values.
/// `queryPointer` is the pointer to the query in the text.
void addProblems(Checked& checked, const document::Document& document,
                 const std::vector<document::QueryProblem>& problems, const std::string& queryPointer,
                 const std::function<query::TextPosition(const std::string& pointer)>& positionOf) {
  const std::vector<std::string> places = document::placesOf(document, problems);
  std::map<std::string, query::TextPosition> fields;  // places of these values
  std::erase_if(checked.diagnostics, [&](const query::Diagnostic& said) {
    const bool isInList = std::ranges::any_of(places, [&](const std::string& place) {
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
    if (const std::string hint = problem.hint.words(); !hint.empty())
      diagnostic.hint = withPeriod(std::move(diagnostic.hint)) + " " + hint;
    // A problem outside of the query has no place in the query.
    if (places[i].empty() && problem.node != document.root()) continue;
    diagnostic.pointer = queryPointer + places[i];
    const auto field = fields.find(diagnostic.pointer);
    diagnostic.position = field == fields.end() ? positionOf(places[i]) : field->second;
  }
}

/// A document contains values and settings, so every reason for a run to refuse the document is an error.
Checked checkDocument(const std::string& text, const std::optional<workbench::RunSettings>& settings,
                      Machine& machine, query::Surroundings& surroundings) {
  document::OpenedDocument opened = document::readDocument(text);
  Checked checked{.query = std::nullopt, .diagnostics = std::move(opened.diagnostics), .declarations = {}};
  if (!opened.document) return checked;
  document::Document& document = *opened.document;
  if (settings) document.settings = *settings;
  // An empty document has an empty seq in place of a query.
  if (document.root() == document::kNoNode) {
    std::erase_if(checked.diagnostics, [](const query::Diagnostic& said) {
      return said.severity == Severity::Warning && said.pointer.starts_with("/query");
    });
  }
  // An empty seq in the text means a missing input.
  for (const auto& [path, id] : document::pathsInTree(document, document.root())) {
    if (id != document::kNoNode) continue;
    std::erase_if(checked.diagnostics, [place = "/query" + path](const query::Diagnostic& said) {
      return said.severity == Severity::Warning && said.pointer.starts_with(place);
    });
  }
  std::vector<document::QueryProblem> refusals;
  std::vector<document::QueryProblem> problems = problemsOf(document, &machine, surroundings, refusals);
  addRefusals(problems, std::move(refusals));
  addProblems(checked, document, problems, "/query", [&](const std::string& pointer) {
    const auto range = workbench::rangeAround(pointer, opened.sources);
    return query::positionAt(text, opened.queryBegin + (range ? range->begin : 0));
  });
  checked.declarations = document.declarations;
  if (!query::hasErrors(checked.diagnostics))
    checked.query = document::toQuery(document, document::TakeOut::MutedAndFrozen).query;
  return checked;
}

/// Whether a run refuses the query with any values and settings. Examples are a missing file and the limits
/// of the planner.
bool isOfQueryAlone(const document::Document& document, const document::QueryProblem& problem,
                    const std::set<document::NodeId>& refused) {
  if (problem.node == document::kNoNode) return false;
  const query::Node& own = document.at(problem.node).own;
  return query::infoOf(own).resolvedBy == query::ResolvedBy::Files || query::documentOf(own) != nullptr ||
         refused.contains(problem.node);
}

/// A plain query gets values later. Without options, settings also come later. If a run would refuse the
/// query only because values are missing, the problem is advice. `settings`: null if no option sets a
/// setting.
Checked checkQuery(const std::string& file, const std::string& text, const workbench::RunSettings* settings,
                   Machine& machine, query::Surroundings& surroundings) {
  workbench::PipelineResult read = workbench::runPipeline({.source = std::string_view(text),
                                                           .form = query::queryFormOf(file, text),
                                                           .surroundings = &surroundings},
                                                          workbench::Stage::Read);
  Checked checked{.query = std::nullopt, .diagnostics = std::move(read.diagnostics), .declarations = {}};
  if (!read.isReached()) return checked;
  const query::Node query = read.takeQuery();
  document::Document document = document::fromQuery(query);
  if (settings != nullptr) document.settings = *settings;
  std::vector<document::QueryProblem> refusals;
  std::vector<document::QueryProblem> problems =
      problemsOf(document, settings == nullptr ? nullptr : &machine, surroundings, refusals);
  std::set<document::NodeId> refused;
  for (const document::QueryProblem& problem : refusals) refused.insert(problem.node);
  if (settings == nullptr)
    std::erase_if(problems, [](const document::QueryProblem& problem) { return problem.isOfSettings; });
  for (document::QueryProblem& problem : problems) {
    if (!problem.isOfSettings && !isOfQueryAlone(document, problem, refused))
      problem.severity = Severity::Warning;
  }
  addRefusals(problems, std::move(refusals));
  addProblems(checked, document, problems, {},
              [&](const std::string& pointer) { return workbench::positionOf(pointer, read.sources, text); });
  if (!query::hasErrors(checked.diagnostics)) checked.query = query;
  return checked;
}

Checked checkFile(const InputFile& file, const CommandSettings& settings, bool hasSettings, Machine& machine,
                  const ValidateCommandOptions& options, const Context& context) {
  QueryInputs inputs(file.name, options.query.folders, *options.query.book, context.streams);
  ValidationInputs surroundings(inputs);
  std::optional<workbench::RunSettings> own;
  if (file.settings || hasSettings) own = settings.of(file);
  if (document::isDocumentText(file.text)) return checkDocument(file.text, own, machine, surroundings);
  return checkQuery(file.name, file.text, own ? &*own : nullptr, machine, surroundings);
}

ExitCode validate(const Context& context, const ValidateCommandOptions& options) {
  ExitCode code = ExitCode::Fine;
  const CommandSettings settings(*options.command, options.session.settings, options.query.settings);
  const bool hasSettings = std::ranges::any_of(options.settingOptions,
                                               [](const CLI::Option* option) { return option->count() > 0; });
  Machine machine(context.backends);
  for (const std::string& name : options.files) {
    Checked checked;
    try {
      const InputFile file = std::move(readInputFiles({name}, context.streams).front());
      checked = checkFile(file, settings, hasSettings, machine, options, context);
    } catch (const std::bad_alloc&) {
      context.streams.err << Error{inputName(name),
                                   {},
                                   "more data than the memory can hold",
                                   "a smaller query or pool"}
                                 .message()
                          << '\n';
      return ExitCode::RunFailed;
    }
    writeDiagnostics(context.streams.err, inputName(name), checked.diagnostics);
    if (checked.query) {
      context.streams.out << inputName(name) << ": fine\n";
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
  CLI::App* command = app.add_subcommand("validate", "Report errors of queries, and give advice");
  command->footer(
      R"(Examples:
  spanq validate resources/queries/*.json
  spanq validate --model resources/models/spanlet resources/queries/rag.json

)"
      "A query file (.span) is checked with its own settings. Options override these settings. For a plain "
      "query, "
      "model, device and pool are checked only if an option sets one of these three.\n");
  const auto options = std::make_shared<ValidateCommandOptions>();
  options->command = command;
  command->add_option("FILE", options->files, kQueryFilesHelp)->required();
  addReadFromOption(*command, options->query);
  options->settingOptions =
      addSettings(*command, options->session.settings,
                  {"model", "chat_template", "template_variables", "adapter", "context", "policy",
                   "prompt_layout", "max_tokens", "device", "block_size", "blocks"});
  command->add_flag("--parameters", options->parameters,
                    "List the parameters of each query with types, defaults and paths");

  command->callback([&context, options] {
    options->session.check();
    context.action = [&context, options] { return validate(context, *options); };
  });
}

}  // namespace spanscope::cli
