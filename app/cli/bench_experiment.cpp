// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_report.h"
#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "app/cli/input.h"
#include "app/cli/option_values.h"
#include "app/cli/query_options.h"
#include "app/cli/session_options.h"
#include "app/cli/terminal_output.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_chart.h"
#include "engine/experiment/own_documents.h"
#include "engine/experiment/token_amount.h"
#include "engine/jobs/experiment.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/speed_records.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

using experiment::Experiment;
using experiment::ExperimentResult;

constexpr std::int32_t kMostRepeats = 100'000;
constexpr double kMostPlace = 1'000'000;

struct BenchExperimentOptions : BenchOptions {
  std::string queryFile;  ///< the query with the documents and the question; empty: generated documents
  QueryOptionTexts query;
  experiment::ExperimentRequest request;
  std::string csv;
  std::string picture;
  std::string measure;
  std::string chart;
  std::optional<double> place;  ///< a value of the first axis; nothing: all values
};

std::string lowered(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

const char* typeName(experiment::FieldKind kind) {
  switch (kind) {
    case experiment::FieldKind::Number:
      return "INT";
    case experiment::FieldKind::Folder:
      return "PATH";
    case experiment::FieldKind::Numbers:
    case experiment::FieldKind::Policies:
    case experiment::FieldKind::Words:
    case experiment::FieldKind::Models:
      return "LIST";
  }
  return "";
}

/// The range and the default of a field, for the end of its help.
std::string rangeText(const experiment::ExperimentField& field) {
  const std::string standard = fmt::format(" [{}]", field.standard);
  switch (field.kind) {
    case experiment::FieldKind::Numbers:
    case experiment::FieldKind::Number:
      return fmt::format(" ({} to {})", field.least, field.most) + standard;
    case experiment::FieldKind::Policies:
      return *field.standard == '\0' ? "; separated by commas (default: all)"
                                     : "; separated by commas" + standard;
    case experiment::FieldKind::Words:
      return fmt::format("; of {}", field.words) + standard;
    case experiment::FieldKind::Folder:
    case experiment::FieldKind::Models:
      return {};
  }
  return {};
}

nlohmann::ordered_json toJson(const ExperimentResult& result) {
  const Experiment& experiment = *experiment::findExperiment(result.request.experiment);
  nlohmann::ordered_json json;
  json["experiment"] = experiment.name;
  json["repeats"] = result.request.repeats;
  json["seed"] = result.request.seed;
  if (result.request.own) json["documents_of"] = result.request.own->name();
  if (!result.request.expected.empty()) json["expected"] = result.request.expected;
  json["fields"] = result.request.values;
  json["remarks"] = result.remarks;
  json["points"] = nlohmann::ordered_json::array();
  for (const experiment::ExperimentPoint* point : experiment::sortedPoints(result)) {
    nlohmann::ordered_json row{{"line", point->series}, {"x", point->x}};
    for (std::size_t i = 0; i < experiment.measures.size(); ++i)
      row[experiment.measures[i].key] = summaryJson(experiment::summarize(point->samples[i]));
    json["points"].push_back(std::move(row));
  }
  return json;
}

std::string textOf(const ExperimentResult& result) {
  const experiment::ExperimentTable found = experiment::experimentTable(result);
  std::vector<TextTable::Column> columns;
  for (const std::string& title : found.titles)
    columns.push_back({title, columns.empty() ? TextTable::Align::Left : TextTable::Align::Right});
  TextTable table(std::move(columns));
  for (const std::vector<std::string>& row : found.rows) table.addRow(row);
  std::string text =
      std::string("  ") + experiment::findExperiment(result.request.experiment)->title + "\n\n" +
      table.text() +
      "\n  Values are medians, and shares are means. Ranges are quartiles (min … max for fewer than five "
      "samples).\n  Ranges of shares are 95 % intervals.\n";
  for (const std::string& remark : result.remarks) text += "  " + remark + '\n';
  return text;
}

/// The duration, as a sentence.
std::string estimateText(const jobs::JobEstimate& estimate) {
  if (estimate.seconds) return "This takes " + experiment::durationText(*estimate.seconds) + ".";
  return /*id:experiment-time-unknown*/
      "The duration is unknown before the first answer of this model on this device.";
}

nlohmann::ordered_json estimateJson(const jobs::JobEstimate& estimate) {
  const auto range = [](const run::CountRange& count) -> nlohmann::ordered_json {
    return {{"least", count.least},
            {"most", count.bounded() ? nlohmann::ordered_json(count.most) : nlohmann::ordered_json()}};
  };
  nlohmann::ordered_json json{{"prompt_tokens", range(estimate.amount.prompt)},
                              {"generated_tokens", range(estimate.amount.generated)},
                              {"seconds", nullptr}};
  if (estimate.seconds)
    json["seconds"] = {{"least", estimate.seconds->least}, {"most", estimate.seconds->most}};
  return json;
}

std::string progressText(const ExperimentResult& now, const std::optional<double>& secondsLeft) {
  std::string text = fmt::format("{:.0f} %: {}", 100 * now.progress(), now.doing);
  if (secondsLeft) text += ", " + experiment::durationText({*secondsLeft, *secondsLeft}) + " left";
  return text;
}

std::size_t measureOf(const Experiment& experiment, const std::string& key) {
  for (std::size_t i = 0; i < experiment.measures.size(); ++i) {
    if (key == experiment.measures[i].key) return i;
  }
  return 0;
}

experiment::ExperimentDrawing drawingOf(const Experiment& experiment, const BenchExperimentOptions& options) {
  return {.measure = measureOf(experiment, options.measure),
          .kind = *experiment::chartKindOf(options.chart),
          .place = options.place};
}

/// Takes documents and question from the file of --query, and retrieves the documents of an augment. `model`
/// becomes the model that was loaded for retrieval, if any. False: the file has a reported error.
bool takeDocuments(const Context& context, const BenchExperimentOptions& options,
                   experiment::ExperimentRequest& request, std::shared_ptr<workbench::ModelBundle>& model) {
  QueryOptions given = queryOptions(options.query);
  retrieveWith(given, options.query, context, options.session.settings.model, modelOptions(options.session));
  const auto planned = planFile(options.queryFile, given, context.streams);
  warnOfUnused(given, context.streams);
  if (!planned) return false;
  model = given.retriever->model();
  request.source = experiment::DocumentSource::Own;
  try {
    request.own =
        std::make_shared<const experiment::OwnDocuments>(planned->query(), inputName(options.queryFile));
  } catch (const Failure& failure) {
    Error error = failure.error();
    error.file = inputName(options.queryFile);
    throw Failure(error);
  }
  return true;
}

ExitCode runOne(const Context& context, const Experiment& experiment, const BenchExperimentOptions& options) {
  experiment::ExperimentRequest request = options.request;
  std::shared_ptr<workbench::ModelBundle> model;
  if (!options.queryFile.empty() && !takeDocuments(context, options, request, model))
    return ExitCode::WrongInput;
  try {
    request = experiment::completed(std::move(request));
  } catch (const Failure& failure) {
    refuseOption("--" + failure.error().place, failure.error().found, failure.error().expected);
  }
  if (model == nullptr)
    model = std::make_shared<workbench::ModelBundle>(loadChosenModel(options.session, context.backends));
  const workbench::ModelBundle& bundle = *model;
  workbench::OwnModel own = ownModel(model, options.session);
  own.loadBeside = [&](const workbench::RunSettings& settings) {
    SessionOptions session = options.session;
    session.settings = settings;
    session.settings.chatTemplate = "auto";  // the given template is for the first model
    return loadChosenModel(session, context.backends);
  };
  CommandService service(context, std::move(own));
  const auto job = std::make_shared<jobs::MeasuringJob<jobs::ExperimentJob>>(
      std::move(request),
      jobs::JobInput{.settings = options.session.settings,
                     .paces = std::make_shared<workbench::SpeedRecords>(context.streams.paceFile)});
  bool isSaid = false;
  const workbench::JobHandle handle = service.carryOut(job, [&] {
    const std::shared_ptr<const ExperimentResult> now = job->found();
    // If standard error is no terminal, only errors and warnings are written.
    const auto estimate = job->estimate();
    if (estimate && !isSaid && context.streams.terminal != nullptr) {
      showProgress(context, "");
      *context.streams.terminal << estimateText(*estimate) << '\n';
      isSaid = true;
    }
    showProgress(context, now->doing.empty() ? std::string() : progressText(*now, job->secondsLeft()));
  });
  // Reports the measurements that ended before a stop.
  const ExperimentResult& result = *job->found();
  ExitCode code = handle.state() == workbench::JobState::Stopped ? ExitCode::Stopped : ExitCode::Fine;
  try {
    handle.rethrow();
  } catch (const Failure& failure) {
    showProgress(context, "");
    // File errors are reported before the first measurement.
    if (!failure.error().file.empty() && result.points.empty()) throw;
    code = ExitCode::RunFailed;
    context.streams.err << failure.what() << '\n';
  }
  nlohmann::ordered_json json = toJson(result);
  if (const auto estimate = job->estimate()) json["estimate"] = estimateJson(*estimate);
  writeReport(context, options, bundle, json, textOf(result));
  OutputRules rules{
      .inputs = modelFiles(bundle.checkpoint), .unfinished = context.streams.unfinished, .stop = {}};
  const std::vector<FileIdentity>& read = options.query.book->files;
  rules.inputs.insert(rules.inputs.end(), read.begin(), read.end());
  const auto write = [&](const std::string& file, const std::string& bytes) {
    if (file.empty()) return;
    if (const std::optional<Error> error = writeFile(file, bytes, rules)) throw OutputFailure(*error);
  };
  write(options.csv, experiment::experimentCsv(result));
  write(options.picture, experiment::experimentSvg(result, drawingOf(experiment, options)));
  return code;
}

}  // namespace

BenchAction addExperimentBench(CLI::App& command, const Context& context, const Experiment& experiment) {
  const auto options = std::make_shared<BenchExperimentOptions>();
  options->request.experiment = experiment.name;
  options->request.repeats = experiment.repeats;
  workbench::RunSettings& settings = options->session.settings;
  addSettings(command, settings, {"model", "chat_template", "template_variables"});
  for (const experiment::ExperimentField& field : experiment::fieldsOf(experiment)) {
    const std::string help = std::string(field.name) + ": " + lowered(field.help) + rangeText(field);
    command.add_option(std::string("--") + field.key, options->request.values[field.key], help)
        ->type_name(typeName(field.kind));
  }
  if (experiment::takesOwnDocuments(experiment)) {
    const std::string made = experiment.own.made;
    command
        .add_option("--query", options->queryFile,
                    fmt::format("Use the documents (children of plus) and the question of this query, not "
                                "generated documents. - is standard input.{}",
                                made.empty() ? "" : " Not together with --" + made))
        ->type_name("FILE");
    if (experiment.own.judges) {
      command
          .add_option("--expect", options->request.expected,
                      "Right answer to the question of --query. Without this option, answers are not graded")
          ->type_name("TEXT");
    }
    addSettingOption(command, options->query);
    addRetrievalOptions(command, options->query);
  }
  addNumber(command, "--repeats", options->request.repeats, "Runs per point", {1, kMostRepeats});
  addSeedOption(command, options->request.seed, "Seed of the generated texts");
  std::vector<std::string> measures;
  for (const experiment::Measure& measure : experiment.measures) measures.emplace_back(measure.key);
  options->measure = measures.front();
  command
      .add_option("--measure", options->measure,
                  fmt::format("Metric of the chart: {}", fmt::join(measures, ", ")))
      ->check(oneOf(measures))
      ->capture_default_str();
  std::vector<std::string> charts;
  for (const experiment::ChartKind kind : experiment::chartKindsOf(experiment))
    charts.emplace_back(experiment::chartKindName(kind));
  options->chart = charts.front();
  command.add_option("--chart", options->chart, "Kind of chart")->check(oneOf(charts))->capture_default_str();
  addNumber(
      command, "--at", options->place,
      fmt::format("Draw the histogram for this value of {} only (default: for all values)", experiment.xName),
      Range<double>{0, kMostPlace});
  command.add_option("--picture", options->picture, "Draw the chart in this SVG file")->type_name("FILE");
  command.add_option("--csv", options->csv, "Write every point and metric to this CSV file")
      ->type_name("FILE");
  command.add_flag("--json", options->json, "Write JSON, with all samples");
  addEngineSettings(command, *options);
  const auto check = [options, &experiment] {
    options->query.check();
    const auto made = options->request.values.find(experiment.own.made);
    if (!options->queryFile.empty() && made != options->request.values.end() && !made->second.empty())
      refuseOption("--" + made->first, made->second, "no value, because --query has the documents");
    const std::vector<std::string> retrieving = queryOptions(options->query).givenForRetrieval;
    if (options->queryFile.empty() && !retrieving.empty())
      refuseOption(retrieving.front(), "an option for augments", "--query with an augment");
    if (options->queryFile.empty() && !options->request.expected.empty())
      refuseOption("--expect", options->request.expected, "--query with the question of this answer");
  };
  return {options, [&context, options, &experiment] { return runOne(context, experiment, *options); }, check};
}

}  // namespace spanscope::cli
