// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/query_options.h"

#include "app/cli/diagnostics.h"
#include "app/cli/input.h"
#include "app/cli/option_values.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"
#include "engine/plan/rules/rules.h"
#include "engine/query/operators/vocabulary.h"
#include "engine/query/parameters.h"
#include "engine/query/shown_text.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/servers/server_requests.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

namespace spanscope::cli {
namespace {

/// The input from a file: a written query, or the query of a document.
struct FileInput {
  std::optional<DocumentInput> document;
  workbench::PipelineInput pipeline;  ///< also has the inputs of the file

  /// Whether the input has a query. A document may have no query.
  bool isReadable() const { return !document || document->query; }
};

FileInput inputOf(const std::string& file, const std::string& text, const QueryOptions& options,
                  QueryInputs& inputs) {
  FileInput input{.document = readDocumentInput(text),
                  .pipeline = static_cast<const workbench::PipelineInput&>(options)};
  workbench::PipelineInput& pipeline = input.pipeline;
  pipeline.source = std::string_view(text);
  pipeline.form = query::queryFormOf(file, text);
  pipeline.surroundings = &inputs;
  if (!input.isReadable() || !input.document) return input;
  pipeline.source = *input.document->query;
  pipeline.declarations = input.document->declarations;
  pipeline.passages.choices = input.document->choices;
  // Values from the command line come first.
  pipeline.parameters.insert(input.document->values.begin(), input.document->values.end());
  return input;
}

/// Writes the problems of a query that was read from this text.
void report(std::ostream& err, const std::string& file, std::vector<query::Diagnostic> diagnostics,
            const FileInput& input, std::string_view text) {
  if (input.document) {
    for (query::Diagnostic& diagnostic : diagnostics) locate(diagnostic, input.document->places, text);
  }
  writeDiagnostics(err, inputName(file), diagnostics);
}

void noteEnd(SharedInputs& book, const workbench::PipelineResult& made) {
  book.hasAugment |= !made.retrieved.empty();
  book.isFinished &= made.isReached();
}

/// Adds the parameters of a query to the book and returns these parameters. Returns no parameters if the
/// query cannot be read.
std::vector<query::ParameterInfo> keepParameters(
    SharedInputs& book, const workbench::PipelineResult& made,
    const std::vector<query::ParameterDeclaration>& declarations) {
  const query::Node* const written = made.queryAfter(workbench::Stage::Read);
  if (written == nullptr) {
    book.isComplete = false;
    return {};
  }
  std::vector<query::ParameterInfo> parameters = query::listParameters(*written, declarations);
  for (const query::ParameterInfo& parameter : parameters) {
    const bool isKnown = std::ranges::any_of(
        book.parameters, [&](const query::ParameterInfo& known) { return known.name == parameter.name; });
    if (!isKnown) book.parameters.push_back(parameter);
  }
  return parameters;
}

}  // namespace

const char* const kQueryFileHelp =
    "Query file (.span, .json, .yaml, .yml, .lisp or .spnl; for other names, the content decides). The name "
    "- is standard input";
const char* const kQueryFilesHelp =
    "Query files (.span, .json, .yaml, .yml, .lisp or .spnl; for other names, the content decides). The name "
    "- is standard input";

void addReadFromOption(CLI::App& command, QueryOptionTexts& texts) {
  command
      .add_option("--read-from", texts.folders,
                  "Another folder for the files of a query, besides its own; can be repeated. A file has at "
                  "most 16 MiB")
      ->check(CLI::ExistingDirectory.description(""))
      ->type_name("DIR")
      ->allow_extra_args(false);
}

void addSettingOption(CLI::App& command, QueryOptionTexts& texts) {
  const auto isAssignment = [](const std::string& text) {
    const std::size_t equals = text.find('=');
    return equals == std::string::npos || equals == 0 ? "\"" + text + "\" is not name=value" : std::string();
  };
  command
      .add_option("--set", texts.values, "Value of a parameter of the query, as name=value; can be repeated")
      ->check(CLI::Validator(isAssignment, ""))
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--answer", texts.book->given,
                  "Answer to the next question of the query (ask); can be repeated. The program asks for "
                  "missing answers on the terminal")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  addReadFromOption(command, texts);
}

void addLocalityOptions(CLI::App& command, QueryOptionTexts& texts) {
  addSettings(command, texts.settings, {"locality", "locality_shape", "reduce_prompt"});
  texts.reducePrompt = command.get_option("--reduce-prompt");
}

namespace {

/// Returns the name in the form of the command line.
std::string dashed(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, ' ', '-');
  return text;
}

/// The rule of "name=on" or "name=off", and whether the rule is on.
std::pair<const plan::Rule*, bool> ruleOf(const std::string& setting) {
  const std::size_t equals = setting.rfind('=');
  return {plan::findRule(setting.substr(0, equals)), setting.substr(equals) == "=on"};
}

/// The problem of "name=on" or "name=off"; empty if the text is valid.
std::string ruleProblem(const std::string& setting) {
  if (!setting.ends_with("=on") && !setting.ends_with("=off"))
    return query::inQuotes(setting) + " is neither name=on nor name=off";
  if (ruleOf(setting).first != nullptr) return {};
  std::vector<std::string> names;
  std::string expected;
  for (const plan::Rule* rule : plan::rules()) {
    names.push_back(dashed(rule->name));
    expected += (expected.empty() ? "" : ", ") + names.back();
  }
  const std::string name = setting.substr(0, setting.rfind('='));
  const auto meant = query::nearestName(name, names);
  return problemSentence("a rule " + query::inQuotes(name), "one of " + expected,
                         meant ? "did you mean " + *meant + "?" : "");
}

void addRuleOption(CLI::App& command, QueryOptionTexts& texts) {
  command
      .add_option("--rule", texts.rules,
                  "Switch a rewrite rule on or off: name=on or name=off. Write - for each space of the name. "
                  "Can be repeated")
      ->check(CLI::Validator([](const std::string& text) { return ruleProblem(text); }, ""))
      ->type_name("NAME=on|off")
      ->allow_extra_args(false);
}

}  // namespace

void addRetrievalOptions(CLI::App& command, QueryOptionTexts& texts) {
  std::vector<CLI::Option*> options = addSettings(
      command, texts.settings,
      {"fragments", "ranking", "embeddings_url", "embeddings_model", "summaries", "chunk", "overlap"});
  for (CLI::Option* option : addOtherSettings(command, texts.settings, {workbench::SettingEffect::Retrieval}))
    options.push_back(option);
  options.push_back(
      command
          .add_option("--index", texts.retrieval.indexFile,
                      "Index file for documents, created if missing (default: an index in memory)")
          ->type_name("FILE"));
  for (CLI::Option* option : options) option->group(kRetrievalGroup);
  texts.retrievalOptions = {options.begin(), options.end()};
}

void addPlanOptions(CLI::App& command, QueryOptionTexts& texts) {
  addSettingOption(command, texts);
  addRetrievalOptions(command, texts);
  addRuleOption(command, texts);
  addLocalityOptions(command, texts);
  addSettings(command, texts.settings, {"seed", "distribute", "output_form"});
  addOtherSettings(command, texts.settings, {workbench::SettingEffect::Plan});
}

namespace {

void checkValues(const std::vector<std::string>& settings) {
  std::set<std::string> names;
  for (const std::string& setting : settings) {
    const std::string name = setting.substr(0, setting.find('='));
    if (!names.insert(name).second)
      refuseOption("--set", "two values for " + query::inQuotes(name), "one value");
  }
}

/// Whether one of the options of retrieval was given.
bool isGiven(const QueryOptionTexts& texts, std::string_view name) {
  return std::ranges::any_of(texts.retrievalOptions, [name](const CLI::Option* option) {
    return option->get_name() == name && option->count() > 0;
  });
}

void checkRules(const QueryOptionTexts& texts) {
  std::set<const plan::Rule*> rules;
  for (const std::string& setting : texts.rules) {
    const auto [rule, isOn] = ruleOf(setting);
    const std::string found = query::inQuotes(setting);
    if (!rules.insert(rule).second)
      refuseOption("--rule", found + " and another value of this rule", "one value");
    if (isOn && rule == &plan::kLocalityRule && texts.settings.locality == 0)
      refuseOption("--rule", found + " alone", "--locality, which sets the number of documents of a judge");
    if (isOn && rule == &plan::kDistributeRule && !texts.settings.distribute)
      refuseOption("--rule", found + " and --no-distribute", "only one of the two options");
  }
}

}  // namespace

void QueryOptionTexts::check() const {
  checkValues(values);
  checkRules(*this);
  const std::int32_t mostOverlap = settings.chunk / 4;
  if (settings.overlap > mostOverlap && isGiven(*this, "--overlap")) {
    refuseOption("--overlap", std::to_string(settings.overlap),
                 "at most " + std::to_string(mostOverlap) + ", a quarter of the " +
                     std::to_string(settings.chunk) + " tokens of --chunk");
  }
  if (retrieve::parseRanking(settings.ranking) == retrieve::Ranking::Lexical &&
      !settings.embeddingsUrl.empty())
    refuseOption("--embeddings-url", "vectors for --rank lexical, which has none",
                 "--rank auto, embedding or hybrid");
}

namespace {

plan::PlanOptions planOptions(const QueryOptionTexts& texts, const workbench::RunSettings& settings) {
  plan::PlanOptions options = document::planOptionsOf(settings);
  for (const std::string& setting : texts.rules) {
    const auto [rule, isOn] = ruleOf(setting);
    options.rules[std::string(rule->name)] = isOn;
  }
  // An empty prompt is also a question.
  if (texts.reducePrompt != nullptr && texts.reducePrompt->count() > 0)
    options.locality.reducePrompt = texts.settings.reducePrompt;
  return options;
}

}  // namespace

QueryOptions queryOptions(const QueryOptionTexts& texts) {
  QueryOptions options;
  options.folders = texts.folders;
  options.book = texts.book;
  for (const CLI::Option* option : texts.retrievalOptions) {
    if (option->count() > 0) options.givenForRetrieval.push_back(option->get_name());
  }
  for (const std::string& setting : texts.values) {
    const std::size_t equals = setting.find('=');
    options.parameters[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  options.plan = planOptions(texts, texts.settings);
  return options;
}

QueryOptions withSettings(QueryOptions options, const QueryOptionTexts& texts,
                          const workbench::RunSettings& settings) {
  const bool recordTrees = options.plan.recordTrees;
  options.plan = planOptions(texts, settings);
  options.plan.recordTrees = recordTrees;
  options.passages = document::retrievalOptionsOf(settings);
  return options;
}

namespace {

/// Reports the progress of an index, at most once a second. A short job reports nothing.
class ProgressLines {
 public:
  explicit ProgressLines(std::ostream& err) : m_err(err) {}

  void operator()(const retrieve::IndexProgress& now) {
    const auto time = std::chrono::steady_clock::now();
    if (time - m_last < std::chrono::seconds(1)) return;
    m_last = time;
    const char* const what = now.phase == retrieve::IndexPhase::Documents   ? "documents"
                             : now.phase == retrieve::IndexPhase::Summaries ? "summaries"
                                                                            : "vectors";
    m_err << "index: " << now.done << " of " << now.total << ' ' << what << ", " << now.added << " new\n"
          << std::flush;
  }

 private:
  std::ostream& m_err;
  std::chrono::steady_clock::time_point m_last = std::chrono::steady_clock::now();
};

}  // namespace

void retrieveWith(QueryOptions& options, const QueryOptionTexts& texts, const Context& context,
                  const std::filesystem::path& modelDirectory, const workbench::ModelOptions& model) {
  workbench::RetrievalSettings settings = texts.retrieval;
  options.passages = document::retrievalOptionsOf(texts.settings);
  settings.modelDirectory = modelDirectory;
  settings.model = model;
  if (!texts.settings.embeddingsUrl.empty()) {
    settings.embeddings = remote::EmbeddingsServer{
        .url = texts.settings.embeddingsUrl, .model = texts.settings.embeddingsModel, .key = {}};
    const char* const key = std::getenv("SPANSCOPE_EMBEDDINGS_KEY");
    if (key != nullptr) settings.embeddings->key = key;
  }
  options.retriever = std::make_shared<workbench::Retrieval>(std::move(settings), context.backends);
  options.retrieval = options.retriever.get();
  options.watch = {.progress = ProgressLines(context.streams.err), .stop = context.stop};
}

namespace {

/// Writes a warning in the form of all lines about an option.
void warn(std::ostream& err, const std::string& option, const std::string& found,
          const std::string& expected) {
  err << option << ": warning: " << problemSentence(found, expected, {}, Severity::Warning) << '\n';
}

void warnOfUnusedSettings(const QueryOptions& options, const Streams& streams) {
  std::vector<query::Diagnostic> problems = query::checkValues(options.book->parameters, options.parameters);
  // A value of the wrong kind was reported at each place in the query.
  std::erase_if(problems,
                [](const query::Diagnostic& problem) { return problem.severity == Severity::Error; });
  writeDiagnostics(streams.err, "--set", problems);
}

void warnOfUnusedAnswers(const SharedInputs& book, std::ostream& err) {
  if (book.used == book.given.size()) return;
  warn(err, "--answer", std::to_string(book.given.size()),
       book.used == 0 ? /*id:none-no-question*/ "no answer, because the query asks no question"
                      : std::to_string(book.used) +
                            /*id:no-more-questions*/ ", because the query asks no more questions");
}

void warnOfTextsWithoutValues(const std::string& file, const std::vector<query::ParameterInfo>& parameters,
                              const std::map<std::string, std::string>& values, std::ostream& err) {
  std::string names;
  for (const query::ParameterInfo& parameter : parameters) {
    if (parameter.uses.empty() || parameter.defaultValue || values.contains(parameter.name)) continue;
    names += (names.empty() ? "{" : ", {") + parameter.name + "}";
  }
  if (names.empty()) return;
  warn(err, inputName(file), names + " without a value",
       /*id:set-name-value*/ "--set NAME=VALUE, else the text keeps the braces");
}

}  // namespace

void warnOfUnusedFolders(const std::vector<std::string>& folders, const SharedInputs& book,
                         std::ostream& err) {
  for (const std::string& folder : folders) {
    if (!book.readFolders.contains(folder))
      warn(err, "--read-from", onOneLine(folder),
           /*id:folder-something-read*/ "a folder with files that the query reads");
  }
}

void warnOfUnused(const QueryOptions& options, const Streams& streams) {
  const SharedInputs& book = *options.book;
  if (book.isComplete) warnOfUnusedSettings(options, streams);
  if (!book.isFinished) return;
  warnOfUnusedAnswers(book, streams.err);
  warnOfUnusedFolders(options.folders, book, streams.err);
  if (book.hasAugment || options.retrieval == nullptr) return;
  for (const std::string& name : options.givenForRetrieval)
    warn(streams.err, name, /*id:unused-augment-option*/ "an option of augment",
         /*id:none-no-augment*/ "no such option, because the query has no augment");
}

namespace {

struct FileRun {
  PlannedFile file;  ///< results up to the requested stage
  std::optional<DocumentInput> document;
};

/// Problems of the file go to standard error. The parameters of the file go into the book.
FileRun runFile(const std::string& file, const std::string& text, const QueryOptions& options,
                workbench::Stage last, const Streams& streams) {
  QueryInputs inputs(file, options.folders, *options.book, streams);
  FileInput input = inputOf(file, text, options, inputs);
  if (input.document) writeDiagnostics(streams.err, inputName(file), input.document->diagnostics);
  PlannedFile result;
  if (input.isReadable()) {
    result.values = input.pipeline.parameters;
    result.made = workbench::runPipeline(input.pipeline, last);
    report(streams.err, file, result.made.diagnostics, input, text);
  }
  result.parameters = keepParameters(*options.book, result.made, input.pipeline.declarations);
  noteEnd(*options.book, result.made);
  return {.file = std::move(result), .document = std::move(input.document)};
}

}  // namespace

std::optional<PlannedFile> planFile(const std::string& file, const QueryOptions& options,
                                    const Streams& streams) {
  return planText(file, readInput(file, streams), options, streams);
}

std::optional<PlannedFile> planText(const std::string& file, const std::string& text,
                                    const QueryOptions& options, const Streams& streams) {
  PlannedFile planned = runFile(file, text, options, workbench::Stage::Plan, streams).file;
  if (planned.made.end == workbench::PipelineEnd::Stopped)
    streams.err << inputName(file) << ": stopped during indexing\n";
  if (!planned.made.isReached()) return std::nullopt;
  warnOfTextsWithoutValues(file, planned.parameters, planned.values, streams.err);
  return planned;
}

std::optional<QueryFile> readFileForServer(const std::string& file, const QueryOptions& options,
                                           const Streams& streams) {
  std::string text = readInput(file, streams);
  QueryOptions forServer = options;
  forServer.isForServer = true;
  auto [read, document] = runFile(file, text, forServer, workbench::Stage::Retrieve, streams);
  if (!read.made.isReached()) return std::nullopt;
  warnOfTextsWithoutValues(file, read.parameters, read.values, streams.err);
  remote::NodeNames names = workbench::fileNames(*read.made.queryAfter(workbench::Stage::Parameters));
  QueryFile result{read.made.takeQuery(), std::move(text), std::move(read.made.sources)};
  if (document) result.places = std::move(document->places);
  result.names = std::move(names);
  return result;
}

void locate(query::Diagnostic& diagnostic, const QueryFile& file) {
  if (file.places) {
    locate(diagnostic, *file.places, file.text);
  } else {
    diagnostic.position = workbench::positionOf(diagnostic.pointer, file.sources, file.text);
  }
}

}  // namespace spanscope::cli
